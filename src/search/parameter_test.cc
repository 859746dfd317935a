// What SPACE.yaml may say, what it may not, and the values that come of it.
#include "search/parameter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "search/space.h"

namespace hone::search {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

Space space_of(const std::string& text) {
  Space space;
  read_fields(parse_yaml(text, "space.yaml"), space);
  check_space(space, "space.yaml");
  settle_steps(space, std::nullopt, "space.yaml");
  return space;
}

Parameter parameter_of(const std::string& text) {
  return space_of("parameters: {x: " + text + "}").parameters.list.at(0);
}

TEST(Space, ReadsBackAsItWasWritten) {
  const Space a = space_of(
      "parameters:\n"
      "  optim.lr: {log_uniform: [1.0e-5, 1e-2]}\n"
      "  adapter.dropout: {uniform: [0, 0.25], step: 0.1}\n"
      "  adapter.rank: {log_integer: [4, 64]}\n"
      "  batch.sequences: {integer: [2, 17], step: 4}\n"
      "  adapter.targets: [[q_proj, v_proj], all-linear, \"8\", 8]\n"
      "method: asha\nsampler: random\ntrials: 7\nsteps: 90\nrungs: {first: 10}\n"
      "objective: {metric: train_loss, goal: max}\n");
  const std::string text = space_text(a);
  EXPECT_EQ(space_text(space_of(text)), text);
  EXPECT_THAT(text, HasSubstr("optim.lr"));
  const std::vector<Parameter>& list = a.parameters.list;
  ASSERT_EQ(list.size(), 5u);
  EXPECT_EQ(list[1].high, 0.2);  // a whole number of steps
  EXPECT_EQ(list[3].high, 14);
  EXPECT_EQ(list[4].text(0), "[q_proj, v_proj]");
  EXPECT_EQ(list[4].text(2), "\"8\"");
  EXPECT_EQ(list[4].text(3), "8");
}

TEST(Space, DefaultsToTwentyTrialsOfTpe) {
  const Space s = space_of("parameters: {seed: [1, 2]}");
  EXPECT_EQ(s.method, "tpe");
  EXPECT_EQ(s.trials, 20);
}

struct BadSpace {
  const char* text;
  const char* message;
};

TEST(Space, MistakesAreOneClearLine) {
  const BadSpace cases[] = {
      {"", "parameters is empty"},
      {"parameters: {}", "parameters is empty"},
      {"parameters: [a]", "expected a map, found a list of 1"},
      {"parametres: {x: [1]}", "did you mean \"parameters\"?"},
      {"parameters: {x: []}", "parameters.x: the list of choices is empty"},
      {"parameters: {x: 3}", "parameters.x: expected a list of choices or a range"},
      {"parameters: {x: [1, 2, 1]}", "the choice 1 is there twice"},
      {"parameters: {x: {}}", "give one of uniform"},
      {"parameters: {x: {uniform: [0, 1], integer: [0, 1]}}", "give one of uniform"},
      {"parameters: {x: {unifrom: [0, 1]}}", "did you mean \"uniform\"?"},
      {"parameters: {x: {uniform: [1, 1]}}", "1 is not below 1"},
      {"parameters: {x: {uniform: [2, 1]}}", "2 is not below 1"},
      {"parameters: {x: {uniform: [0]}}", "expected a list of 2"},
      {"parameters: {x: {uniform: [0, .inf]}}", "expected a number"},
      {"parameters: {x: {uniform: [-1e308, 1e308]}}", "too wide"},
      {"parameters: {x: {log_uniform: [0, 1]}}", "begins above 0"},
      {"parameters: {x: {log_integer: [0, 8]}}", "begins above 0"},
      {"parameters: {x: {log_uniform: [1, 9], step: 1}}", "has no step"},
      {"parameters: {x: {integer: [0.5, 8]}}", "expected an integer"},
      {"parameters: {x: {integer: [0, 8], step: 1.5}}", "the step of integers is an integer"},
      {"parameters: {x: {integer: [0, 9223372036854775807]}}", "integers end at 2^53"},
      {"parameters: {x: {integer: [0, 8], step: 9}}", "wider than the range"},
      {"parameters: {x: {uniform: [0, 1], step: 0}}", "must be above 0"},
      {"parameters: {x: {uniform: [0, 1], step: 1e-300}}", "too small"},
      {"parameters: {optim: [{lr: 1}], optim.lr: [1]}", "set the same key"},
      {"parameters: {x: [1]}\nmethod: tpr\n", "did you mean \"tpe\"?"},
      {"parameters: {x: [1]}\nsampler: tpe\n", "sampler belongs to method asha"},
      {"parameters: {x: [1]}\nrungs: {first: 3}\n", "rungs belong to method asha"},
      {"parameters: {x: [1]}\nmethod: asha\nsteps: 9\nrungs: {first: 9}\n", "is not below the 9"},
      {"parameters: {x: [1]}\nmethod: asha\nsteps: 1\n", "is not below the 1"},
      {"parameters: {x: [1]}\nmethod: asha\n", "give steps, or length.steps"},
      {"parameters: {x: [1]}\nrungs: {factor: 1}\n", "must be 2 to 1000"},
      {"parameters: {x: [1]}\ntrials: 0\n", "must be 1 to"},
      {"parameters: {x: [1]}\nobjective: {goal: best}\n", "must be one of min | max"},
      {"parameters: {x: {uniform: [0, 1]}}\nmethod: grid\n", "cannot try every value of \"x\""},
      {"parameters: {x: [1, 2], y: {integer: [1, 3]}}\nmethod: grid\ntrials: 5\n",
       "has 6 points and trials is 5"},
      {"parameters: {x: {integer: [1, 5000]}, y: {integer: [1, 5000]}}\nmethod: grid\n",
       "more than 1000000 points"},
  };
  for (const BadSpace& c : cases) {
    SCOPED_TRACE(c.text);
    EXPECT_THAT([&] { space_of(c.text); },
                ThrowsMessage<ConfigError>(testing::AllOf(
                    HasSubstr("space.yaml"), HasSubstr(c.message), testing::Not(HasSubstr("\n")))));
  }
  std::printf("%zu bad spaces\n", std::size(cases));
  EXPECT_GE(std::size(cases), 35u);
}

TEST(Parameter, DrawsCoverTheRangeAndStayInside) {
  const char* const ranges[] = {
      "{uniform: [-1, 3]}", "{log_uniform: [1e-6, 1e2]}",   "{uniform: [0.1, 0.7], step: 0.1}",
      "{integer: [-2, 3]}", "{integer: [10, 22], step: 4}", "{log_integer: [1, 9]}",
      "[a, b, c]"};
  for (const char* text : ranges) {
    SCOPED_TRACE(text);
    const Parameter p = parameter_of(text);
    Random random(7);
    std::vector<int> seen(p.count() > 0 ? static_cast<size_t>(p.count()) : 4);
    for (int i = 0; i < 4000; ++i) {
      const double x = p.draw(random);
      ASSERT_TRUE(p.contains(x)) << x;
      if (p.step > 0) {
        ASSERT_EQ(p.from_axis(p.axis(x)), x);
      }
      const double share = (p.axis(x) - p.axis_low()) / (p.axis_high() - p.axis_low());
      const auto cell = p.count() > 0 && p.kind != Parameter::Kind::kChoice
                            ? static_cast<size_t>((x - p.low) / p.step + 0.5)
                        : p.count() > 0 ? static_cast<size_t>(x)
                                        : static_cast<size_t>(share * 4);
      ++seen.at(std::min(cell, seen.size() - 1));
    }
    for (const int n : seen) EXPECT_GT(n, 4000 / static_cast<int>(seen.size()) / 5);
  }
}

TEST(Parameter, StepsAreWrittenAsPeopleWriteThem) {
  const Parameter p = parameter_of("{uniform: [0.1, 0.7], step: 0.1}");
  ASSERT_EQ(p.count(), 7);
  EXPECT_EQ(p.text(p.at(2)), "0.3");
  EXPECT_EQ(p.text(p.at(6)), "0.7");
  EXPECT_EQ(parameter_of("{integer: [4, 12], step: 4}").text(8), "8");
}

}  // namespace
}  // namespace hone::search
