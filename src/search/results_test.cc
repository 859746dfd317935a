#include "search/results.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "search/page.h"

namespace hone::search {
namespace {

using testing::HasSubstr;

struct Example {
  Space space;
  std::vector<Trial> trials;
};

Example example() {
  Example e;
  read_fields(parse_yaml("parameters:\n"
                         "  optim.lr: {log_uniform: [1e-5, 1e-1]}\n"
                         "  adapter.dropout: {uniform: [0, 0.3]}\n"
                         "  adapter.rank: {log_integer: [2, 64]}\n"
                         "  optim.schedule: [constant, \"<b>&\", cosine]\n"
                         "method: asha\nsteps: 270\nrungs: {first: 30}\n",
                         "space.yaml"),
              e.space);
  check_space(e.space, "space.yaml");
  Random random(3);
  for (int64_t id = 0; id < 40; ++id) {
    Trial t{.id = id, .state = State::kComplete, .steps = 270, .started = "2026-01-31T12:00:00Z"};
    for (const Parameter& p : e.space.parameters.list) t.numbers.push_back(p.draw(random));
    const double rate = std::log10(t.numbers[0]) + 3;
    const auto loss = [&](double step) {
      return 1.2 + 0.2 * rate * rate + t.numbers[1] + 20 / (step + 20) + 0.02 * random.normal();
    };
    t.seconds = 40 + id;
    for (const int64_t step : {30, 90}) {
      t.measurements.push_back({step, loss(static_cast<double>(step))});
      if (id % 3 == 1 || (step == 90 && id % 3 == 2)) {
        t.state = State::kStopped;
        t.steps = step;
        t.value = t.measurements.back().value;
        break;
      }
    }
    if (!t.value) t.value = id == 12 ? 900.0 : loss(270);
    if (id == 7)
      t = {.id = 7,
           .state = State::kFailed,
           .numbers = t.numbers,
           .started = t.started,
           .note = "step 4: the loss is nan, said <the> \"log\""};
    e.trials.push_back(t);
  }
  return e;
}

TEST(Results, TheTableMarksTheBest) {
  const Example e = example();
  const std::string table = table_text(e.space, e.trials);
  const Trial* best = best_of(e.space, e.trials);
  ASSERT_NE(best, nullptr);
  EXPECT_THAT(table, HasSubstr("val_loss"));
  EXPECT_EQ(std::ranges::count(table, '\n'), 41);
  const std::string second = table.substr(table.find('\n') + 1);
  EXPECT_EQ(second.find('*'), 0u);
  EXPECT_THAT(second.substr(0, second.find('\n')), HasSubstr(std::to_string(best->id)));
  EXPECT_THAT(table, HasSubstr("failed: step 4"));
  EXPECT_EQ(count_text(e.trials), "40 trials: 14 complete, 25 stopped, 1 failed");
}

TEST(Results, CsvQuotesAndJsonReadsBack) {
  const Example e = example();
  const std::string csv = csv_text(e.space, e.trials);
  EXPECT_EQ(std::ranges::count(csv, '\n'), 41);
  EXPECT_THAT(csv,
              HasSubstr("trial,optim.lr,adapter.dropout,adapter.rank,optim.schedule,val_loss,"));
  const nlohmann::json json = parse_json(json_text(e.space, e.trials), "study.json");
  EXPECT_EQ(json["trials"].size(), 40u);
  EXPECT_EQ(json["ranking"].size(), 40u);
  EXPECT_EQ(json["ranking"][0], json["best"]);
  EXPECT_EQ(json["trials"][3]["parameters"]["optim.lr"].get<double>(), e.trials[3].numbers[0]);
  EXPECT_TRUE(json["trials"][7]["value"].is_null());
}

TEST(Results, RankCorrelationKnowsTheSign) {
  Example e = example();
  EXPECT_EQ(rank_correlation(e.space, e.trials, 3), std::nullopt);  // choices
  EXPECT_EQ(rank_correlation(e.space, std::span(e.trials).first(9), 0), std::nullopt);
  for (Trial& t : e.trials) t.value = -t.numbers[1], t.state = State::kComplete;
  EXPECT_NEAR(*rank_correlation(e.space, e.trials, 1), -1, 1e-12);
  for (Trial& t : e.trials) t.value = 1;
  EXPECT_EQ(rank_correlation(e.space, e.trials, 1), std::nullopt);
}

// The page of the example lies in the tests' folder afterwards, to be looked at.
TEST(Page, IsWholeAndSafe) {
  const Example e = example();
  const std::string page = page_html(e.space, e.trials, "Study <1>");
  EXPECT_THAT(page, HasSubstr("Study &lt;1&gt;"));
  EXPECT_EQ(page.find("<b>&"), std::string::npos);
  EXPECT_EQ(page.find("<the>"), std::string::npos);
  EXPECT_EQ(page.find("://"), std::string::npos);  // nothing is fetched
  EXPECT_EQ(page.find("nan\""), std::string::npos);
  const auto count = [&](std::string_view what) {
    size_t n = 0;
    for (size_t at = page.find(what); at != std::string::npos; at = page.find(what, at + 1)) ++n;
    return n;
  };
  EXPECT_EQ(count("<svg"), 6u);  // history, steps, four parameters
  EXPECT_EQ(count("</svg>"), count("<svg"));
  EXPECT_EQ(count("<tr"), 41u);
  std::ofstream(testing::TempDir() + "hone_study_page.html") << page;
}

TEST(Page, StandsWithoutResults) {
  Example e = example();
  EXPECT_THAT(page_html(e.space, {}, "none"), HasSubstr("No trial has a value"));
  e.trials.resize(8);
  EXPECT_THAT(page_html(e.space, std::span(e.trials).subspan(7), "failed"), HasSubstr("1 failed"));
  EXPECT_THAT(page_html(e.space, std::span(e.trials).first(1), "one"), HasSubstr("<svg"));
}

}  // namespace
}  // namespace hone::search
