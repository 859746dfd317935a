#include "cli/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace hone::cli {
namespace {

using testing::HasSubstr;

struct Options {
  std::string model;
  std::optional<std::string> adapter;
  std::vector<std::string> overrides;
  std::string out;
  int64_t max_tokens = 64;
  double temperature = 0.8;
  std::optional<double> top_p;
  std::vector<std::string> stop;
  std::vector<int64_t> tokens;
  bool chat = false;

  void fields(auto& v) {
    v.argument("model", model, "a model");
    v.argument("adapter", adapter, "an adapter");
    v.argument("key=value", overrides, "changes");
    v.needed("out", out, "a file");
    v("max_tokens", max_tokens, "most tokens", between(1, 1000));
    v("temperature", temperature, "heat", at_least(0));
    v("top_p", top_p, "nucleus", between(0, 1));
    v("stop", stop, "texts that end it");
    v("tokens", tokens, "ids", at_least(0));
    v("chat", chat, "talk in turns");
  }
};

Options parse(const std::vector<std::string>& args) {
  Options o;
  EXPECT_TRUE(parse_options(options_of(o), args));
  return o;
}

std::string message_of(const std::vector<std::string>& args) {
  Options o;
  try {
    parse_options(options_of(o), args);
  } catch (const UsageError& e) {
    return e.what();
  }
  return "no error";
}

TEST(Options, ReadsEveryForm) {
  const Options o = parse({"m", "--out=x=y", "--max-tokens", "7", "--temperature=-0", "a", "k=v",
                           "--stop", "\n", "--stop=", "--tokens", "1,2,3", "--tokens=4", "--chat",
                           "--top_p", "0.5", "--", "--odd", "-"});
  EXPECT_EQ(o.model, "m");
  EXPECT_EQ(o.adapter, "a");
  EXPECT_EQ(o.overrides, (std::vector<std::string>{"k=v", "--odd", "-"}));
  EXPECT_EQ(o.out, "x=y");
  EXPECT_EQ(o.max_tokens, 7);
  EXPECT_EQ(o.temperature, 0);
  EXPECT_EQ(o.top_p, 0.5);
  EXPECT_EQ(o.stop, (std::vector<std::string>{"\n", ""}));
  EXPECT_EQ(o.tokens, (std::vector<int64_t>{1, 2, 3, 4}));
  EXPECT_TRUE(o.chat);
}

TEST(Options, TakesDashAndUnderscoreAlike) {
  for (const char* name : {"--max-tokens=9", "--max_tokens=9"})
    EXPECT_EQ(parse({"m", "--out", "o", name}).max_tokens, 9);
}

TEST(Options, TakesTextAsItIsWritten) {
  for (const char* text : {"[x", "a: b", "null", "'", "--not-an-option", "-1", "# no note", ""})
    EXPECT_EQ(parse({"m", "--out", text}).out, text);
}

TEST(Options, FlagsMayBeSpelledOut) {
  EXPECT_FALSE(parse({"m", "--out=o", "--chat=false"}).chat);
  EXPECT_TRUE(parse({"m", "--out=o", "--chat=true"}).chat);
}

TEST(Options, HelpComesBeforeWhatIsMissing) {
  Options o;
  const std::vector<std::string> args = {"--help"};
  EXPECT_FALSE(parse_options(options_of(o), args));
  EXPECT_EQ(parse({"--out", "--help", "m"}).out, "--help");
}

TEST(Options, NamesTheMistake) {
  const struct {
    std::vector<std::string> args;
    const char* message;
  } cases[] = {
      {{}, "MODEL is missing"},
      {{"m"}, "--out is missing"},
      {{"m", "--out"}, "--out needs a value"},
      {{"m", "--out", "o", "--out", "p"}, "--out is given twice"},
      {{"m", "--out=o", "--chat", "--chat"}, "--chat is given twice"},
      {{"m", "--out=o", "--chat=yes"}, "--chat: expected true or false, found \"yes\""},
      {{"m", "--out=o", "--max-token", "3"},
       "unknown option \"--max-token\"; did you mean --max-tokens?"},
      {{"m", "--out=o", "--Chat"}, "unknown option \"--Chat\"; did you mean --chat?"},
      {{"m", "--out=o", "--model=x"}, "unknown option \"--model\""},
      {{"m", "--out=o", "--zzzzzz"}, "unknown option \"--zzzzzz\""},
      {{"m", "--out=o", "--=x"}, "unknown option \"--\""},
      {{"m", "-o", "o"}, "unknown option \"-o\"; options begin with --"},
      {{"m", "--out=o", "--max-tokens", "many"},
       "--max-tokens: expected an integer, found \"many\""},
      {{"m", "--out=o", "--max-tokens="}, "--max-tokens: expected an integer, found \"\""},
      {{"m", "--out=o", "--max-tokens=0"}, "--max-tokens: must be 1 to 1000, found 0"},
      {{"m", "--out=o", "--max-tokens=9223372036854775808"}, "expected an integer of 64 bits"},
      {{"m", "--out=o", "--temperature=hot"}, "--temperature: expected a number"},
      {{"m", "--out=o", "--temperature=nan"}, "--temperature: expected a number"},
      {{"m", "--out=o", "--top-p=1.5"}, "--top-p: must be 0 to 1, found 1.5"},
      {{"m", "--out=o", "--tokens=1,,2"}, "--tokens: expected an integer, found \"\""},
      {{"m", "--out=o", "--tokens=1,-2"}, "--tokens: must be at least 0, found -2"},
  };
  for (const auto& c : cases) EXPECT_THAT(message_of(c.args), HasSubstr(c.message));
  std::printf("%zu option errors\n", std::size(cases));
  EXPECT_GE(std::size(cases), 21u);
}

TEST(Options, DescribesThemselves) {
  Options o;
  const std::vector<Option> options = options_of(o);
  EXPECT_EQ(usage(options), " MODEL [ADAPTER] [KEY=VALUE ...] --out TEXT [options]");
  EXPECT_EQ(option_lines(options),
            "  MODEL            a model\n"
            "  ADAPTER          an adapter\n"
            "  KEY=VALUE        changes\n"
            "  --out TEXT       a file\n"
            "  --max-tokens N   most tokens; 1 to 1000 (default 64)\n"
            "  --temperature X  heat; at least 0 (default 0.8)\n"
            "  --top-p X        nucleus; 0 to 1\n"
            "  --stop TEXT      texts that end it\n"
            "  --tokens N,...   ids; at least 0\n"
            "  --chat           talk in turns\n");
}

}  // namespace
}  // namespace hone::cli
