#include "verilog/split.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "verilog/kinds.h"
#include "verilog/shape.h"
#include "verilog/simulate.h"

namespace hone::verilog {
namespace {

const Simulator kPatient{.limits = {.seconds = 60}};  // a busy machine is no verdict

const Split& the_split() {
  static const Split split = make_split();
  return split;
}

std::vector<const Task*> all_tasks() {
  std::vector<const Task*> all;
  for (const auto* part :
       {&the_split().training, &the_split().validation, &the_split().held_out, &the_split().unseen})
    for (const Task& task : *part) all.push_back(&task);
  return all;
}

uint64_t digest(const std::vector<const Task*>& tasks) {
  uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (const Task* task : tasks)
    for (const std::string* text : {&task->kind, &task->prompt, &task->module, &task->testbench}) {
      for (const char c : *text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
      hash = (hash ^ 0xff) * 0x100000001b3;
    }
  return hash;
}

TEST(Split, HasTheCountsItPromises) {
  const Split& split = the_split();
  const size_t kinds_trained = kinds().size() - unseen_kinds().size();
  std::printf("%zu kinds, %zu training, %zu validation, %zu held out, %zu unseen\n", kinds().size(),
              split.training.size(), split.validation.size(), split.held_out.size(),
              split.unseen.size());
  EXPECT_GE(kinds().size(), 41u);
  EXPECT_EQ(split.training.size(), kinds_trained * kTrainingPerKind);
  EXPECT_GE(split.training.size(), 540u);
  EXPECT_EQ(split.validation.size(), 40u);
  EXPECT_EQ(split.held_out.size(), 20u);
  EXPECT_EQ(split.unseen.size(), 20u);
}

TEST(Split, TrainsNoUnseenKindAndEveryOther) {
  std::map<std::string, int> trained;
  for (const Task& task : the_split().training) ++trained[task.kind];
  for (const std::string_view kind : unseen_kinds())
    EXPECT_FALSE(trained.contains(std::string(kind))) << kind;
  for (const Kind* kind : kinds())
    EXPECT_EQ(trained.contains(std::string(kind->name)),
              std::ranges::find(unseen_kinds(), kind->name) == unseen_kinds().end())
        << kind->name;
  std::set<std::string> held;
  for (const Task& task : the_split().held_out) {
    EXPECT_TRUE(trained.contains(task.kind)) << task.kind;
    EXPECT_TRUE(held.insert(task.kind).second) << task.kind;
  }
  for (const Task& task : the_split().unseen) EXPECT_FALSE(trained.contains(task.kind));
}

TEST(Split, RepeatsNoPromptAndNoModule) {
  std::set<std::string> prompts, modules;
  for (const Task* task : all_tasks()) {
    EXPECT_TRUE(prompts.insert(task->prompt).second) << task->prompt;
    EXPECT_TRUE(modules.insert(task->module).second) << task->module;
  }
  EXPECT_GE(prompts.size(), 620u);
}

TEST(Split, HoldsOutNewShapes) {
  std::set<std::string> trained;
  for (const auto* part : {&the_split().training, &the_split().validation})
    for (const Task& task : *part) trained.insert(shape(task.module));
  for (const auto* part : {&the_split().held_out, &the_split().unseen})
    for (const Task& task : *part)
      EXPECT_FALSE(trained.contains(shape(task.module))) << task.module;
  std::printf("%zu shapes are trained\n", trained.size());
  EXPECT_GE(trained.size(), 450u);
}

// What the module is called and its ports are called must be in the prompt: else no answer is
// right.
TEST(Split, PromptsNameEveryPort) {
  size_t names = 0;
  for (const Task* task : all_tasks()) {
    const std::string header = task->module.substr(0, task->module.find(';'));
    std::string word;
    for (const char c : header + " ") {
      if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_') {
        word += c;
        continue;
      }
      const bool syntax = std::set<std::string>{"module", "input", "output", "reg"}.contains(word);
      const bool number = !word.empty() && std::isdigit(static_cast<unsigned char>(word[0])) != 0;
      if (!word.empty() && !syntax && !number) {
        EXPECT_THAT(task->prompt, testing::ContainsRegex("[ ]" + word + "[ ,.:;[]")) << header;
        ++names;
      }
      word.clear();
    }
  }
  std::printf("%zu names\n", names);
  EXPECT_GE(names, 2500u);
}

// Prompt and answer must fit 256 tokens with a chat template around them. The tokenizer is not at
// hand here; a token of this text has 2.9 bytes on average and never fewer than 2.3 a task.
TEST(Split, IsShort) {
  for (const Task* task : all_tasks())
    EXPECT_LE(task->prompt.size() + task->module.size(), 560u) << task->prompt;
}

TEST(Split, IsTheSameEverywhere) {
  EXPECT_EQ(digest(all_tasks()), 3391607634261428223u);
  const Split again = make_split();
  EXPECT_EQ(again.training.back().testbench, the_split().training.back().testbench);
}

TEST(Split, EveryModulePassesItsBench) {
  std::vector<Job> jobs;
  for (const Task* task : all_tasks()) jobs.push_back({task->module, task->testbench});
  const std::vector<Outcome> outcomes = simulate_all(jobs, 2, kPatient);
  for (size_t i = 0; i < outcomes.size(); ++i)
    EXPECT_EQ(name(outcomes[i].verdict), "pass") << outcomes[i].error << "\n" << jobs[i].module;
  std::printf("%zu modules simulated\n", outcomes.size());
  EXPECT_GE(outcomes.size(), 620u);
}

TEST(Shape, IgnoresNamesOnly) {
  EXPECT_EQ(shape("module m(input a, output y);\n assign y = a + 2'd3;\nendmodule"),
            "module #0(input #1,output #2);assign #2=#1+2'd3;endmodule");
  EXPECT_EQ(shape("module x(input  in0,output o);assign o=in0+2'd3;endmodule"),
            shape("module m(input a, output y);\n assign y = a + 2'd3;\nendmodule"));
  EXPECT_NE(shape("assign y = a + 3;"), shape("assign y = a + 4;"));
  EXPECT_NE(shape("assign y = a + b;"), shape("assign y = a + a;"));
}

}  // namespace
}  // namespace hone::verilog
