#include "cli/command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace hone::cli {

Commands all_commands();  // main.cc

namespace {

// The words of a command line that needs no more of a shell than quotes.
std::vector<std::string> words(std::string_view line) {
  std::vector<std::string> out(1);
  char open = 0;  // the quote we are in
  for (const char c : line) {
    if (c == open || (open == 0 && (c == '\'' || c == '"')))
      open = open == 0 ? c : 0;
    else if (c == ' ' && open == 0)
      out.emplace_back();
    else
      out.back() += c;
  }
  return out;
}

TEST(Commands, EveryExampleInTheHelpParses) {
  int examples = 0;
  for (const Command* command : all_commands()) {
    EXPECT_FALSE(command->examples.empty()) << command->name;
    for (const std::string_view example : command->examples) {
      const std::vector<std::string> args = words(example);
      ASSERT_GE(args.size(), 2u) << example;
      SCOPED_TRACE(example);
      EXPECT_EQ(args[0], "hone");
      EXPECT_EQ(args[1], command->name);
      EXPECT_TRUE(command->parse(std::span(args).subspan(2))) << example;
      EXPECT_THAT(help_text(*command), testing::HasSubstr(std::string(example)));
      ++examples;
    }
  }
  std::printf("%d examples of %zu commands\n", examples, all_commands().size());
  EXPECT_GE(examples, 7);
  EXPECT_GE(all_commands().size(), 4u);
}

TEST(Commands, EveryCommandHasHelp) {
  for (const Command* command : all_commands()) {
    EXPECT_LE(command->help.size(), 60u) << command->name;
    for (const Option& option : command->options())
      EXPECT_FALSE(option.help.empty()) << option.name;
    EXPECT_THAT(help_text(all_commands()), testing::HasSubstr(std::string(command->help)));
  }
}

struct Options {
  std::string how;
  void fields(auto& v) { v.argument("how", how, "what is thrown"); }
};

int fail(const Options& o) {
  if (o.how == "error") throw ConfigError("it broke");
  if (o.how == "usage") throw UsageError("not like this");
  if (o.how == "interrupted") throw Interrupted("stopped at step 3; saved in runs/a");
  if (o.how == "memory") throw std::bad_alloc();
  return o.how == "seven" ? 7 : 0;
}

TEST(Commands, GiveTheAgreedExitCodes) {
  const Command failing = command<fail>("failing", "fail", {"hone failing error"});
  const Command* const all[] = {&failing};
  const struct {
    std::vector<std::string> args;
    int code;
    const char* err;
  } cases[] = {
      {{"failing", "fine"}, 0, ""},
      {{"failing", "seven"}, 7, ""},
      {{"failing", "error"}, 1, "error: it broke\n"},
      {{"failing", "memory"}, 1, "error: out of memory\n"},
      {{"failing", "usage"}, 2, "error: not like this; see hone failing --help\n"},
      {{"failing"}, 2, "error: HOW is missing; see hone failing --help\n"},
      {{"faling"}, 2, "error: unknown command \"faling\"; did you mean \"failing\"?\n"},
      {{"hlep"}, 2, "error: unknown command \"hlep\"; did you mean \"help\"?\n"},
      {{"failing", "interrupted"}, 130, "stopped at step 3; saved in runs/a\n"},
  };
  for (const auto& c : cases) {
    testing::internal::CaptureStderr();
    EXPECT_EQ(run_commands(all, c.args), c.code);
    EXPECT_EQ(testing::internal::GetCapturedStderr(), c.err);
  }
}

}  // namespace
}  // namespace hone::cli
