#include "base/yaml.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/random.h"

namespace hone {
namespace {

using testing::HasSubstr;

std::string repeat(std::string_view piece, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += piece;
  return out;
}

std::string message_of(const std::string& text, const YamlLimits& limits = {}) {
  try {
    parse_yaml(text, "f", limits);
  } catch (const ConfigError& e) {
    return e.what();
  }
  return "no error";
}

struct Case {
  std::string text;
  const char* result;
};

TEST(Yaml, RefusesWhatIsNotStrictYaml) {
  const std::string bomb =
      "a: &a [x, x, x, x]\nb: &b [*a, *a, *a, *a]\nc: &c [*b, *b, *b, *b]\nd: [*c, *c, *c]\n";
  const Case cases[] = {
      {bomb, "f:1: anchors (&name) are not allowed"},
      {"a: 1\nb: *a\n", "f:2: not YAML: the referenced anchor is not defined"},
      {"a: 1\nb: &x 2\n", "f:2: anchors"},
      {"&x [*x]", "f: anchors"},
      {"a: !!int 3\n", "f:1: tags (!name) are not allowed"},
      {"\n- !!python/object:os.system x\n", "f:2: tags"},
      {"a: 1\na: 2\n", "f:2: key \"a\" appears twice"},
      {"x:\n  a: {b: 1, \"b\": 2}\n", "f:2: key \"b\" appears twice"},
      {"a: 1\n--- \nb: 1\n", "f: text after the end of the document"},
      {"- a\nb: c\n", "f: text after the end of the document"},
      {"a: b: c\n", "f:1: not YAML: illegal map value"},
      {"a: 'b\n", "f:"},
      {"a: \"b\n", "f:"},
      {"a: 'b\nseed: 1\n", "f:"},
      {"a: \"b\nseed: 1\n", "f:"},
      {"'a", "f:"},
      {"\"a", "f:"},
      {"a: 1\nb: [1\nc: 2\n", "f:3: not YAML: end of sequence flow not found"},
      {"[1", "f: a key must be one word; is a bracket left open?"},
      {"a: 1}\n}", "not YAML: illegal flow end"},
      {"a:\n\t- b\n", "f:2: not YAML: illegal block entry"},
      {"? [a]\n: b\n", "f:1: a key must be one word"},
      {"~: b\n", "f:1: a key must be one word"},
      {"a: @b\n", "f:1: not YAML: unknown token"},
      {"a: \"\\q\"\n", "f:1: not YAML: unknown escape"},
      {"a: \xff\n", "f: not UTF-8 text"},
      {"a: \xc0\xaf\n", "f: not UTF-8 text"},
      {"\xff\xfe"
       "a",
       "f: not UTF-8 text"},
      {"a: \xed\xa0\x80\n", "f: not UTF-8 text"},
      {std::string("a: \0 b\n", 7), "f: control character \\x00"},
      {"a: 1\n\x04\nb: 2\n", "f: control character \\x04"},
      {"a: \x1b[31m\n", "f: control character \\x1b"},
      {repeat("- ", 65) + "a", "f: nested deeper than 64 levels"},
      {repeat("a: {", 65), "f: nested deeper than 64 levels"},
      {repeat("[", 100'000), "f: "},
      {repeat("{", 100'000), "f: "},
      {std::string((4 << 20) + 1, ' '), "f: 4194305 bytes of YAML, more than the 4194304 allowed"},
  };
  for (const Case& c : cases) {
    const std::string message = message_of(c.text);
    EXPECT_THAT(message, HasSubstr(c.result)) << c.text.substr(0, 60);
    EXPECT_EQ(message.find_first_of("\n\r\x1b"), std::string::npos) << message;
  }
  std::printf("%zu kinds of bad YAML\n", std::size(cases));
  EXPECT_GE(std::size(cases), 37u);
}

TEST(Yaml, TakesWhatIsWithinTheLimits) {
  const std::string big(1 << 20, 'x');
  for (const std::string& text :
       {fmt::format("a: {}", big), fmt::format("a: \"{}\"", big), fmt::format("a: |-\n  {}", big)})
    EXPECT_EQ(parse_yaml(text, "f").find("a")->text.size(), big.size());
  EXPECT_EQ(parse_yaml(repeat("- ", 64) + "a", "f").items.size(), 1u);
  std::string keys;
  for (int i = 0; i < 50'000; ++i) keys += fmt::format("k{}: 1\n", i);
  EXPECT_EQ(parse_yaml(keys, "f").keys.size(), 50'000u);
}

TEST(Yaml, KeepsLinesAndQuotes) {
  const Yaml y = parse_yaml("# note\na: 1\nb:\n  c: '2'\n", "f");
  EXPECT_EQ(y.find("a")->where(), "f:2");
  EXPECT_FALSE(y.find("a")->quoted);
  EXPECT_EQ(y.find("b")->find("c")->where(), "f:4");
  EXPECT_TRUE(y.find("b")->find("c")->quoted);
  EXPECT_EQ(y.find("z"), nullptr);
}

TEST(Yaml, WritesFlowThatReadsBack) {
  const Case cases[] = {
      {"", "null"},
      {"a: 1", "{a: 1}"},
      {"a: '1'", "{a: \"1\"}"},
      {"a: 'true'", "{a: \"true\"}"},
      {"a: true", "{a: true}"},
      {"- ~\n- null\n-\n", "[null, null, null]"},
      {"a: [0.9, 1.0e-8, -3, +4]", "{a: [0.9, 1.0e-8, -3, +4]}"},
      {"a: hf://org/name@rev", "{a: \"hf://org/name@rev\"}"},
      {"a: runs/first-1.gguf", "{a: runs/first-1.gguf}"},
      {"a: two words", "{a: \"two words\"}"},
      {"a: |\n  two\n  lines\n", "{a: \"two\\nlines\\n\"}"},
      {"a: \"\\x01\\\\\\\"\"", "{a: \"\\x01\\\\\\\"\"}"},
      {"a: 你好", "{a: \"你好\"}"},
      {"a: ''", "{a: \"\"}"},
      {"a: {}\nb: []\n", "{a: {}, b: []}"},
      {"\"a b\": {\"1\": x}", "{\"a b\": {\"1\": x}}"},
      {"a: '#x'", "{a: \"#x\"}"},
      {"a: '- x'", "{a: \"- x\"}"},
      {"a: '-'", "{a: \"-\"}"},
      {"a: 0x1F", "{a: 0x1F}"},
      {"a: 'f32'", "{a: f32}"},
      {"a: '.5'", "{a: \".5\"}"},
      {"a: 'NO'", "{a: \"NO\"}"},
  };
  for (const Case& c : cases) {
    const std::string flow = yaml_flow(parse_yaml(c.text, "f"));
    EXPECT_EQ(flow, c.result) << c.text;
    EXPECT_EQ(yaml_flow(parse_yaml(flow, "f")), flow);
  }
  std::printf("%zu flow texts\n", std::size(cases));
}

TEST(Yaml, WritesBlocksWhereALineIsTooLong) {
  const std::string path(90, 'p');
  const Yaml y = parse_yaml("data: [{path: " + path + ", weight: 1}, {path: b}]\nseed: 0\n", "f");
  const std::string text = yaml_text(y);
  EXPECT_EQ(text, "data:\n  -\n    path: " + path + "\n    weight: 1\n  - {path: b}\nseed: 0\n");
  EXPECT_EQ(yaml_flow(parse_yaml(text, "f")), yaml_flow(y));
}

// Any bytes give a tree or one line of ConfigError, and every tree survives a round trip.
TEST(Yaml, SurvivesMutations) {
  constexpr int kRounds = 20'000;
  const std::string seed =
      "a: {b: [1, 2.5, 'x'], c: \"y\\n\"}\nd:\n  - e: |\n      text\n    f: >-\n      more\n  - g\n"
      "# note\nh: &x 1\ni: !!int 2\n";
  const std::string bytes = "{}[],:#&*!|>'\"%@`-? \n\t\\ab1\x01\xc3\xa9\xff";
  Random random(3);
  int trees = 0;
  for (int round = 0; round < kRounds; ++round) {
    std::string text = seed;
    for (int64_t edits = random.between(1, 6); edits > 0; --edits) {
      const auto at = static_cast<size_t>(random.below(static_cast<int64_t>(text.size())));
      const char byte =
          bytes[static_cast<size_t>(random.below(static_cast<int64_t>(bytes.size())))];
      const int64_t what = random.below(3);
      if (what == 0) text[at] = byte;
      if (what == 1) text.insert(at, 1, byte);
      if (what == 2 && text.size() > 1) text.erase(at, 1);
    }
    if (const size_t cut = text.find('&'); cut != std::string::npos && random.below(2) == 0)
      text.resize(cut);  // else the seed's anchor hides most of what comes after
    try {
      const Yaml tree = parse_yaml(text, "f");
      ++trees;
      const std::string written = yaml_text(tree);
      ASSERT_EQ(yaml_text(parse_yaml(written, "g")), written) << text;
    } catch (const ConfigError& e) {
      ASSERT_EQ(std::string(e.what()).find('\n'), std::string::npos) << e.what();
    }
  }
  std::printf("%d mutations, %d of them YAML\n", kRounds, trees);
  EXPECT_GT(trees, 1000);
}

}  // namespace
}  // namespace hone
