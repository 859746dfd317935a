// Wrong modules must fail: every bench is tried on small mistakes in its right module.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <regex>
#include <string>
#include <vector>

#include "verilog/kinds.h"
#include "verilog/simulate.h"

namespace hone::verilog {
namespace {

constexpr int kTasksPerKind = 2;
const Simulator kPatient{.limits = {.seconds = 60}};  // a busy machine is no verdict

struct Mistake {
  const char *what, *pattern, *replacement;
};

// Each is made at every place where it fits, one place a mutant, in the body.
const std::vector<Mistake> kMistakes{
    {"plus becomes minus", R"( \+ )", " - "},
    {"minus becomes plus", R"( - )", " + "},
    {"times becomes plus", R"( \* )", " + "},
    {"and becomes or", R"( & )", " | "},
    {"or becomes and", R"( \| )", " & "},
    {"xor becomes or", R"( \^ )", " | "},
    {"reduction becomes and", R"(= (~?)[\^|](\w+;))", "= $1&$2"},
    {"both becomes either", R"( && )", " || "},
    {"either becomes both", R"( \|\| )", " && "},
    {"less becomes greater", R"( < )", " > "},
    {"greater becomes less", R"( > )", " < "},
    {"at least becomes above", R"( >= )", " > "},
    {"at most becomes below", R"((\w) <= (\w+\)))", "$1 < $2"},
    {"equal becomes different", R"( == )", " != "},
    {"different becomes equal", R"( != )", " == "},
    {"inverted condition", R"(if \((\w))", "if (!$1"},
    {"inverted low condition", R"(if \(!)", "if ("},
    {"inversion is lost", R"(~)", ""},
    {"asynchronous reset becomes synchronous", R"( or \w+edge \w+)", ""},
    {"wrong clock edge", R"(posedge (\w+)\))", "negedge $1)"},
    {"constant is one more", R"(([ (])(\d+)([;:)]))", "$1$2+1$3"},
    {"index is one less", R"(([a-z]\[)([1-9]\d*)(:|\]))", "$1$2-1$3"},
    {"choice is swapped", R"(\? (\w+) : (\w+);)", "? $2 : $1;"},
    {"sides are swapped", R"(\{(\w+), (\w+(\[[^\]]*\])?)\})", "{$2, $1}"},
    {"left becomes right", R"( << )", " >> "},
    {"right becomes left", R"( >> )", " << "},
    {"held for ever", R"(else if \(\w+\) )", "else if (0) "},
};

// Each port a bit wider and, where it can be, a bit narrower; one port more.
std::vector<std::string> wrong_headers(const std::string& head) {
  std::vector<std::string> all;
  const std::regex port(R"((input|output)( reg)? (\[(\d+):0\] )?(\w+))");
  for (std::sregex_iterator at(head.begin(), head.end(), port), end; at != end; ++at) {
    const int high = (*at)[4].matched ? std::stoi(at->str(4)) : 0;
    for (const int wrong : {high + 1, high - 1})
      if (wrong >= 0)
        all.push_back(fmt::format("{}{}{} [{}:0] {}{}",
                                  head.substr(0, static_cast<size_t>(at->position())), at->str(1),
                                  at->str(2), wrong, at->str(5),
                                  head.substr(static_cast<size_t>(at->position() + at->length()))));
  }
  const std::string closed = head.substr(0, head.size() - 2);
  all.push_back(closed + ", input extra_in);");
  all.push_back(closed + ", output extra_out);");
  return all;
}

std::vector<std::string> mutants(const std::string& module) {
  const size_t body = module.find('\n');
  const std::string head = module.substr(0, body), tail = module.substr(body);
  std::vector<std::string> all;
  for (const Mistake& mistake : kMistakes) {
    const std::regex pattern(mistake.pattern);
    for (std::sregex_iterator at(tail.begin(), tail.end(), pattern), end; at != end; ++at)
      all.push_back(head + tail.substr(0, static_cast<size_t>(at->position())) +
                    at->format(mistake.replacement) +
                    tail.substr(static_cast<size_t>(at->position() + at->length())));
  }
  for (std::string& wrong : wrong_headers(head)) all.push_back(std::move(wrong) + tail);
  const std::regex output(R"(output (reg )?(\[\d+:0\] )?(\w+))");
  for (std::sregex_iterator at(head.begin(), head.end(), output), end; at != end; ++at)
    for (const char* stuck : {"0", "~0"})
      all.push_back(std::regex_replace(head, std::regex("output reg"), "output") + "\n  assign " +
                    at->str(3) + " = " + stuck + ";\nendmodule\n");
  return all;
}

struct Tally {
  int rejected = 0, survived = 0;
};

std::vector<Task> some_of_each_kind() {
  std::vector<Task> tasks;
  for (const Kind* kind : kinds()) {
    Random random(7);
    for (int i = 0; i < kTasksPerKind; ++i) tasks.push_back(kind->make(random));
  }
  return tasks;
}

// A bench that rejects everything would pass the test below.
TEST(Mutants, ComeFromModulesThatPass) {
  const std::vector<Task> tasks = some_of_each_kind();
  std::vector<Job> jobs;
  for (const Task& task : tasks) jobs.push_back({task.module, task.testbench});
  const std::vector<Outcome> outcomes = simulate_all(jobs, 2, kPatient);
  for (size_t i = 0; i < outcomes.size(); ++i)
    EXPECT_EQ(name(outcomes[i].verdict), "pass") << outcomes[i].error << "\n" << tasks[i].module;
}

TEST(Mutants, AreRejected) {
  const std::vector<Task> tasks = some_of_each_kind();
  std::vector<std::string> texts;
  std::vector<const Task*> of;
  for (const Task& task : tasks)
    for (std::string& text : mutants(task.module)) {
      texts.push_back(std::move(text));
      of.push_back(&task);
    }
  std::vector<Job> jobs;
  for (size_t i = 0; i < texts.size(); ++i) jobs.push_back({texts[i], of[i]->testbench});
  const std::vector<Outcome> outcomes = simulate_all(jobs, 2, kPatient);

  std::map<std::string, Tally> tallies;
  for (size_t i = 0; i < outcomes.size(); ++i) {
    Tally& tally = tallies[of[i]->kind];
    if (outcomes[i].verdict == Verdict::kFailSimulate) ++tally.rejected;
    if (outcomes[i].verdict == Verdict::kPass) {
      ++tally.survived;
      std::printf("survived: %s\n", texts[i].c_str());
    }
  }
  int rejected = 0, survived = 0;
  for (const auto& [kind, tally] : tallies) {
    EXPECT_GE(tally.rejected, 2 * kTasksPerKind) << kind;
    rejected += tally.rejected;
    survived += tally.survived;
  }
  std::printf("%d mutants rejected, %d survived, %zu kinds\n", rejected, survived, tallies.size());
  EXPECT_EQ(tallies.size(), kinds().size());
  EXPECT_GE(rejected, 940);
  EXPECT_EQ(survived, 0);
}

}  // namespace
}  // namespace hone::verilog
