#include "ckpt/gguf.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ckpt/expect_error.h"
#include "ckpt/test_files.h"

namespace hone::ckpt {
namespace {

using test::bytes_of;
using test::expect_error;
using test::GgufBuilder;
using test::le;

constexpr const char* kModel = ".deps/models/smollm2-135m/SmolLM2-135M-Instruct.Q4_1.gguf";

GgufBuilder every_type() {
  GgufBuilder b;
  b.text("text", "héllo").text("empty", "").flag("yes", true).flag("no", false);
  b.raw("u8", 0, le<uint8_t>(200)).raw("i8", 1, le<int8_t>(-100));
  b.raw("u16", 2, le<uint16_t>(60000)).raw("i16", 3, le<int16_t>(-30000));
  b.u32("u32", 4000000000u).raw("i32", 5, le<int32_t>(-2000000000));
  b.raw("u64", 10, le<uint64_t>(1)).raw("i64", 11, le<int64_t>(INT64_MIN));
  b.raw("u64.big", 10, le<uint64_t>(uint64_t{1} << 63));
  b.f32("f32", 1e-5f).raw("f64", 12, le(0.1));
  b.texts("texts", {"a", "", "ccc"}).texts("no texts", {});
  b.numbers<int32_t>("i32s", 5, {1, -2, 3}).numbers<uint64_t>("u64s", 10, {7, UINT64_MAX});
  b.numbers<uint8_t>("u8s", 0, {255}).numbers<uint8_t>("flags", 7, {0, 1});
  b.numbers<float>("f32s", 6, {0.5f, -1.5f}).numbers<double>("f64s", 12, {0.1});
  return b;
}

TEST(Gguf, ReadsEveryKindOfValue) {
  const std::string file = every_type().build();
  const Gguf g(bytes_of(file), "x.gguf");
  EXPECT_EQ(g.text("text"), "héllo");
  EXPECT_EQ(g.text("empty"), "");
  EXPECT_EQ(g.flag("yes"), true);
  EXPECT_EQ(g.flag("no"), false);
  const std::pair<const char*, int64_t> integers[] = {
      {"u8", 200},           {"i8", -100},           {"u16", 60000}, {"i16", -30000},
      {"u32", 4000000000ll}, {"i32", -2000000000ll}, {"u64", 1},     {"i64", INT64_MIN}};
  for (const auto& [key, value] : integers) EXPECT_EQ(g.integer(key), value) << key;
  EXPECT_EQ(g.real("f32"), static_cast<double>(1e-5f));
  EXPECT_EQ(g.real("f64"), 0.1);
  EXPECT_EQ(g.texts("texts"), (std::vector<std::string_view>{"a", "", "ccc"}));
  EXPECT_TRUE(g.texts("no texts").empty());
  EXPECT_EQ(g.integers("i32s"), (std::vector<int64_t>{1, -2, 3}));
  EXPECT_EQ(g.integers("u8s"), std::vector<int64_t>{255});
  EXPECT_EQ(g.reals("f32s"), (std::vector<double>{0.5, -1.5}));
  EXPECT_EQ(g.reals("f64s"), std::vector<double>{0.1});
  EXPECT_TRUE(g.is_array("texts"));
  EXPECT_FALSE(g.is_array("text"));
  EXPECT_EQ(g.keys().size(), 23u);
  EXPECT_EQ(g.keys().front(), "text");
}

TEST(Gguf, MissingKeysAreNotErrors) {
  const std::string file = GgufBuilder().build();
  const Gguf g(bytes_of(file), "x.gguf");
  EXPECT_FALSE(g.text("k") || g.integer("k") || g.real("k") || g.flag("k") || g.is_array("k"));
  EXPECT_TRUE(g.texts("k").empty() && g.integers("k").empty() && g.reals("k").empty());
  EXPECT_TRUE(g.tensors().empty());
  EXPECT_EQ(g.find("k"), nullptr);
}

// An element of the wrong type must never be read as another (llama.cpp PR 26690).
TEST(Gguf, OtherTypesAreErrorsThatNameTheKey) {
  const std::string file = every_type().build();
  const Gguf g(bytes_of(file), "x.gguf");
  const std::pair<std::function<void()>, const char*> cases[] = {
      {[&] { g.text("u8"); }, R"("u8" is u8, expected a string)"},
      {[&] { g.text("texts"); }, R"("texts" is an array of string, expected a string)"},
      {[&] { g.integer("text"); }, R"("text" is string, expected an integer)"},
      {[&] { g.integer("f32"); }, R"("f32" is f32, expected an integer)"},
      {[&] { g.integer("yes"); }, R"("yes" is bool, expected an integer)"},
      {[&] { g.integer("i32s"); }, R"("i32s" is an array of i32, expected an integer)"},
      {[&] { g.integer("u64.big"); }, R"("u64.big" is 9223372036854775808, beyond)"},
      {[&] { g.real("u32"); }, R"("u32" is u32, expected f32 or f64)"},
      {[&] { g.flag("u8"); }, R"("u8" is u8, expected a bool)"},
      {[&] { g.texts("text"); }, R"("text" is string, expected an array of strings)"},
      {[&] { g.texts("i32s"); }, R"("i32s" is an array of i32, expected an array of strings)"},
      {[&] { g.integers("texts"); }, R"("texts" is an array of string, expected an array of int)"},
      {[&] { g.integers("f32s"); }, R"("f32s" is an array of f32, expected an array of integers)"},
      {[&] { g.integers("text"); }, R"("text" is string, expected an array of integers)"},
      {[&] { g.integers("u64s"); }, R"("u64s" is 18446744073709551615, beyond)"},
      {[&] { g.reals("i32s"); }, R"("i32s" is an array of i32, expected an array of f32 or f64)"},
      {[&] { g.reals("f32"); }, R"("f32" is f32, expected an array of f32 or f64)"},
  };
  for (const auto& [look_up, message] : cases) expect_error(look_up, message);
  test::report_cases("GGUF values of another type", std::size(cases), 17);
}

TEST(Gguf, ReadsTensorsInPlace) {
  GgufBuilder b;
  b.tensor({"w", {4, 3, 2}, 0, std::string(96, 'w')})
      .tensor({"q", {64, 2}, 2, std::string(72, 'q')});
  b.tensor({"scalar", {}, 28, le(2.5)});
  for (const uint32_t version : {2u, 3u}) {
    b.version = version;
    const std::string file = b.build();
    Gguf opened(bytes_of(file), "x.gguf");
    const Gguf g = std::move(opened);
    ASSERT_EQ(g.tensors().size(), 3u);
    EXPECT_EQ(g.find("w")->dims, (Dims{2, 3, 4}));
    EXPECT_EQ(g.find("w")->bytes.size(), 96u);
    EXPECT_EQ(g.find("q")->type, GgmlType::kQ4_0);
    EXPECT_EQ(static_cast<char>(g.find("q")->bytes.back()), 'q');
    float value = 0;
    dequantise(g.find("scalar")->type, g.find("scalar")->bytes, {&value, 1});
    EXPECT_EQ(value, 2.5f);
    EXPECT_EQ(g.find("x"), nullptr);
  }
}

TEST(Gguf, FollowsTheAlignmentThatTheFileNames) {
  for (const uint32_t alignment : {8u, 64u, 4096u}) {
    GgufBuilder b;
    b.alignment = alignment;
    b.u32("general.alignment", alignment);
    b.tensor({"a", {1}, 0, le(1.0f)}).tensor({"b", {1}, 0, le(2.0f)});
    const std::string file = b.build();
    const Gguf g(bytes_of(file), "x.gguf");
    EXPECT_EQ(g.find("b")->bytes.data() - g.find("a")->bytes.data(), alignment);
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(g.find("b")->bytes.data()), 4), le(2.0f));
  }
}

TEST(Gguf, OpensTheRealModel) {
  const Gguf g{std::filesystem::path(kModel)};
  EXPECT_EQ(g.tensors().size(), 272u);
  EXPECT_EQ(g.text("general.architecture"), "llama");
  EXPECT_EQ(g.integer("llama.block_count"), 30);
  EXPECT_EQ(g.real("llama.rope.freq_base"), 100000.0);
  EXPECT_EQ(g.texts("tokenizer.ggml.tokens").size(), 49152u);
  EXPECT_EQ(g.find("token_embd.weight")->dims, (Dims{49152, 576}));
  std::vector<float> values;
  for (const GgufTensor& t : g.tensors()) {
    values.resize(static_cast<size_t>(Type{DType::kF32, t.dims}.size()));
    dequantise(t.type, t.bytes, values);
    double squares = 0;
    for (const float v : values) squares += static_cast<double>(v) * v;
    EXPECT_TRUE(std::isfinite(squares) && squares > 0) << t.name;
  }
  EXPECT_TRUE(is_gguf(kModel));
  EXPECT_FALSE(is_gguf("CMakeLists.txt") || is_gguf("absent") || is_gguf("."));
}

TEST(Gguf, SaysWhyAFileDoesNotOpen) {
  expect_error([] { Gguf{std::filesystem::path("absent.gguf")}; },
               "cannot open absent.gguf: No such");
  expect_error([] { Gguf{std::filesystem::path("src")}; }, "src is not a regular file");
}

}  // namespace
}  // namespace hone::ckpt
