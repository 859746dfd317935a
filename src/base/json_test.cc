#include "base/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/error.h"

namespace hone {
namespace {

using testing::HasSubstr;

template <class E>
std::string message_of(auto&& work) {
  try {
    work();
  } catch (const E& e) {
    return e.what();
  }
  return "no error";
}

struct Bad {
  std::string text;
  const char* message;
};

std::string repeat(std::string_view piece, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += piece;
  return out;
}

TEST(Json, RefusesWhatIsNotStrictJson) {
  const Bad cases[] = {
      {"", "f is not JSON: parse error at line 1, column 1"},
      {"{", "f is not JSON: parse error at line 1, column 2"},
      {"{\"a\": 1,}", "f is not JSON"},
      {"{\"a\": 1} x", "f is not JSON"},
      {"{'a': 1}", "f is not JSON"},
      {"{a: 1}", "f is not JSON"},
      {"// note\n1", "f is not JSON"},
      {"[NaN]", "f is not JSON"},
      {"[Infinity]", "f is not JSON"},
      {"[1e999]", "number overflow"},
      {"[01]", "f is not JSON"},
      {"[+1]", "f is not JSON"},
      {"\"\xff\"", "f is not JSON"},
      {"\"\\ud800\"", "f is not JSON"},
      {std::string("\"a\0b\"", 5), "f is not JSON"},
      {"\"\x1b[31m\"", "f is not JSON"},
      {"{\"a\": 1, \"a\": 2}", "f: key \"a\" appears twice"},
      {"{\"b\": {\"a\": 1, \"\\u0061\": 2}}", "f: key \"a\" appears twice"},
      {repeat("[", 65), "f: nested deeper than 64 levels"},
      {repeat("{\"a\":", 65), "f: nested deeper than 64 levels"},
      {repeat("[", 1'000'000), "f: nested deeper than 64 levels"},
      {std::string(1001, ' '), "f: 1001 bytes of JSON, more than the 1000 allowed"},
  };
  for (const Bad& c : cases) {
    const JsonLimits limits{.bytes = c.text.size() == 1001 ? size_t{1000} : size_t{1} << 20};
    const std::string message = message_of<ConfigError>([&] { parse_json(c.text, "f", limits); });
    EXPECT_THAT(message, HasSubstr(c.message)) << c.text.substr(0, 40);
    EXPECT_EQ(message.find_first_of("\n\r\x1b"), std::string::npos) << message;
  }
  std::printf("%zu kinds of bad JSON\n", std::size(cases));
  EXPECT_GE(std::size(cases), 22u);
}

TEST(Json, TakesWhatIsWithinTheLimits) {
  EXPECT_EQ(parse_json("{\"a\": [1, -2, 1.5, true, null, \"x\"]}", "f").dump(),
            "{\"a\":[1,-2,1.5,true,null,\"x\"]}");
  EXPECT_EQ(parse_json(repeat("[", 64) + repeat("]", 64), "f").size(), 1u);
  EXPECT_EQ(parse_json("\"" + std::string(1 << 20, 'x') + "\"", "f").get<std::string>().size(),
            size_t{1} << 20);
  EXPECT_EQ(parse_json("18446744073709551615", "f").get<uint64_t>(), UINT64_MAX);
}

TEST(Json, NamesAMissingFile) {
  EXPECT_THAT(message_of<FileError>([] { read_json("no/such.json"); }), HasSubstr("no/such.json"));
}

// What each case reads from one object.
struct Config {
  int64_t hidden = 7;
  double theta = 1e4;
  bool tied = false;
  std::string act = "none";
  std::vector<int64_t> stops;
  std::optional<int64_t> window;
  double factor = 0;
};

void read_config(std::string_view text, Config& c) {
  const nlohmann::json json = parse_json(text, "config.json");
  ConfigReader reader("config.json", json);
  reader.need("hidden", c.hidden, between(1, 1 << 20))
      .want("theta", c.theta, above(0))
      .want("tied", c.tied)
      .want("act", c.act, one_of({"silu", "gelu", "none"}))
      .want("stops", c.stops, at_least(0))
      .want("window", c.window)
      .expect("bias", false)
      .expect("version", 2)
      .expect("dropout", 0.0)
      .expect("norm", "rms")
      .ignore("initializer_range", "training from scratch only");
  if (auto rope = reader.object("rope")) rope->need("factor", c.factor).done();
  reader.done();
}

TEST(ConfigReader, ReadsEveryType) {
  Config c;
  read_config(R"({"hidden": 64, "theta": 500000, "tied": true, "act": "gelu", "stops": [1, 2],
                  "window": 512, "bias": false, "version": 2, "dropout": 0, "norm": "rms",
                  "initializer_range": 0.02, "rope": {"factor": 8.0}})",
              c);
  EXPECT_EQ(c.hidden, 64);
  EXPECT_EQ(c.theta, 500000.0);
  EXPECT_TRUE(c.tied);
  EXPECT_EQ(c.act, "gelu");
  EXPECT_EQ(c.stops, (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(c.window, 512);
  EXPECT_EQ(c.factor, 8.0);
}

TEST(ConfigReader, NullIsAbsentAndOneIsAList) {
  Config c;
  read_config(R"({"hidden": 1, "theta": null, "window": null, "rope": null, "bias": null,
                  "stops": 2})",
              c);
  EXPECT_EQ(c.theta, 1e4);
  EXPECT_EQ(c.window, std::nullopt);
  EXPECT_EQ(c.stops, std::vector<int64_t>{2});
}

TEST(ConfigReader, NamesFileKeyAndWhatWasFound) {
  const Bad cases[] = {
      {"[]", "config.json: expected an object, found a list"},
      {"{}", "config.json: \"hidden\" is missing"},
      {R"({"hidden": null})", "config.json: \"hidden\" is missing"},
      {R"({"hidden": "64"})", "config.json: \"hidden\": expected an integer, found \"64\""},
      {R"({"hidden": 64.0})", "\"hidden\": expected an integer, found 64.0"},
      {R"({"hidden": true})", "\"hidden\": expected an integer, found true"},
      {R"({"hidden": [64]})", "\"hidden\": expected an integer, found a list"},
      {R"({"hidden": {}})", "\"hidden\": expected an integer, found an object"},
      {R"({"hidden": 0})", "\"hidden\": must be 1 to 1048576, found 0"},
      {R"({"hidden": -5})", "\"hidden\": must be 1 to 1048576, found -5"},
      {R"({"hidden": 9223372036854775807})", "\"hidden\": must be 1 to 1048576, found 9.22"},
      {R"({"hidden": 9223372036854775808})",
       "\"hidden\": expected an integer of 64 bits, found 9223372036854775808"},
      {R"({"hidden": 18446744073709551616})", "\"hidden\": expected an integer, found 1.8446"},
      {R"({"hidden": 1, "theta": "1e4"})", "\"theta\": expected a number, found \"1e4\""},
      {R"({"hidden": 1, "theta": false})", "\"theta\": expected a number, found false"},
      {R"({"hidden": 1, "theta": 0})", "\"theta\": must be above 0, found 0"},
      {R"({"hidden": 1, "tied": 1})", "\"tied\": expected true or false, found 1"},
      {R"({"hidden": 1, "tied": "true"})", "\"tied\": expected true or false, found \"true\""},
      {R"({"hidden": 1, "act": 3})", "\"act\": expected text, found 3"},
      {R"({"hidden": 1, "act": "silo"})",
       "must be one of silu | gelu | none, found \"silo\"; did you mean \"silu\"?"},
      {R"({"hidden": 1, "act": "a\u001b[31m\n"})", "found \"a\\x1b[31m\\x0a\""},
      {R"({"hidden": 1, "stops": "x"})", "\"stops\": expected an integer, found \"x\""},
      {R"({"hidden": 1, "stops": [1, 1.5]})", "\"stops\": expected an integer, found 1.5"},
      {R"({"hidden": 1, "stops": [1, -1]})", "\"stops\": must be at least 0, found -1"},
      {R"({"hidden": 1, "window": "no"})", "\"window\": expected an integer, found \"no\""},
      {R"({"hidden": 1, "bias": true})", "\"bias\": this family knows only false, found true"},
      {R"({"hidden": 1, "version": 3})", "\"version\": this family knows only 2, found 3"},
      {R"({"hidden": 1, "dropout": 0.1})", "\"dropout\": this family knows only 0.0, found 0.1"},
      {R"({"hidden": 1, "norm": "layer"})",
       "\"norm\": this family knows only \"rms\", found \"layer\""},
      {R"({"hidden": 1, "rope": 3})", "\"rope\": expected an object, found 3"},
      {R"({"hidden": 1, "rope": {}})", "config.json: \"rope.factor\" is missing"},
      {R"({"hidden": 1, "rope": {"factor": "8"}})", "\"rope.factor\": expected a number"},
      {R"({"hidden": 1, "rope": {"factor": 8, "beta": 1}})",
       "config.json has keys this family does not know: \"rope.beta\""},
      {R"({"hidden": 1, "query_pre_attn_scalar": 256, "cap": null})",
       "config.json has keys this family does not know: \"cap\", \"query_pre_attn_scalar\""},
  };
  for (const Bad& c : cases) {
    Config config;
    EXPECT_THAT(message_of<ConfigError>([&] { read_config(c.text, config); }),
                HasSubstr(c.message));
  }
  std::printf("%zu config errors\n", std::size(cases));
  EXPECT_GE(std::size(cases), 34u);
}

TEST(ConfigReader, CannotBeDroppedHalfRead) {
  const nlohmann::json json = parse_json(R"({"a": 1})", "f");
  EXPECT_DEATH(ConfigReader("f", json).ignore("a", "test"), "dropped before done");
}

}  // namespace
}  // namespace hone
