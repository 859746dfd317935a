#include "ckpt/safetensors.h"

#include <gtest/gtest.h>

#include <cstring>

#include "ckpt/expect_error.h"
#include "ckpt/test_files.h"

namespace hone::ckpt {
namespace {

using test::bytes_of;
using test::expect_error;
using test::safetensors;
using test::TempFolder;

constexpr DType kEveryDType[] = {DType::kPred, DType::kS8,  DType::kU8,  DType::kS32,
                                 DType::kU32,  DType::kS64, DType::kU64, DType::kF16,
                                 DType::kBF16, DType::kF32, DType::kF64};

TEST(Safetensors, ReadsTensorsAndMetadata) {
  const std::string file = safetensors(
      R"({"__metadata__":{"format":"pt","a":"b"},"w":{"dtype":"F32","shape":[1,2],"data_offsets":[3,11]},)"
      R"("b":{"dtype":"I8","shape":[3],"data_offsets":[0,3]},"s":{"dtype":"U8","shape":[],"data_offsets":[11,12]}})"
      "    ",
      "abcEEEEFFFFg");
  const Safetensors s(bytes_of(file), "x.safetensors");
  ASSERT_EQ(s.tensors().size(), 3u);
  EXPECT_EQ(s.tensors()[0].name, "b");
  EXPECT_EQ(s.find("w")->type, (Type{DType::kF32, {1, 2}}));
  EXPECT_EQ(static_cast<char>(s.find("w")->bytes[0]), 'E');
  EXPECT_EQ(s.find("s")->type, (Type{DType::kU8, {}}));
  EXPECT_EQ(s.find("x"), nullptr);
  EXPECT_EQ(s.metadata(), (Metadata{{"format", "pt"}, {"a", "b"}}));
}

TEST(Safetensors, AcceptsWhatTheFormatAllows) {
  const std::pair<const char*, size_t> cases[] = {
      {"{}", 0},
      {"{}     ", 0},
      {R"({"__metadata__":{}})", 0},
      {R"({"a":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}})", 0},
      {R"({"a":{"dtype":"F32","shape":[4611686018427387904,4,0],"data_offsets":[0,0]}})", 0},
      {R"({"a":{"dtype":"F32","shape":[0],"data_offsets":[4,4]},"b":{"data_offsets":[0,4],"shape":[1],"dtype":"F32"}})",
       4},
      {"{ \"\\u00e9\\n\" :\t{\"dtype\":\"U8\",\r\n\"shape\":[1,1],\"data_offsets\":[0,1]} }", 1},
  };
  for (const auto& [header, size] : cases) {
    SCOPED_TRACE(header);
    const std::string file = safetensors(header, std::string(size, 'x'));
    EXPECT_NO_THROW(Safetensors(bytes_of(file), "x"));
  }
}

TEST(Safetensors, RoundTripsEveryDType) {
  const TempFolder folder;
  std::string data(64, '\0');
  for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<char>(i * 37);
  std::vector<TensorView> tensors;
  for (const DType dtype : kEveryDType)
    for (const Dims& dims : {Dims{}, Dims{2, 3}, Dims{0, 5}, Dims{1, 1, 4, 1}}) {
      const Type type{dtype, dims};
      tensors.push_back(
          {fmt::format("{}/é\"\\\n", type.str()), type, bytes_of(data).first(type.bytes())});
    }
  const auto path = folder / "all.safetensors";
  write_safetensors(path, tensors, {{"format", "pt"}, {"note", "ü \"quoted\"\n"}});
  const Safetensors read(path);
  EXPECT_EQ(read.metadata().at("note"), "ü \"quoted\"\n");
  ASSERT_EQ(read.tensors().size(), tensors.size());
  const std::byte* begin = read.tensors()[0].bytes.data();
  for (const TensorView& t : read.tensors()) begin = std::min(begin, t.bytes.data());
  for (const TensorView& want : tensors) {
    SCOPED_TRACE(want.name);
    const TensorView* got = read.find(want.name);
    ASSERT_NE(got, nullptr);
    EXPECT_EQ(got->type, want.type);
    EXPECT_TRUE(std::ranges::equal(got->bytes, want.bytes));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(got->bytes.data()) % byte_size(got->type.dtype), 0u);
  }
  test::report_cases("tensors written and read", tensors.size(), 44);

  const std::string first = test::read_file(path);
  std::ranges::reverse(tensors);
  write_safetensors(path, tensors, {{"format", "pt"}, {"note", "ü \"quoted\"\n"}});
  EXPECT_EQ(test::read_file(path), first) << "the order of the call must not matter";
}

TEST(Safetensors, WritesTheFormatThatTransformersWants) {
  const TempFolder folder;
  const auto path = folder / "x.safetensors";
  write_safetensors(path, {});
  EXPECT_EQ(test::read_file(path).substr(8), R"({"__metadata__":{"format":"pt"}})");
  write_safetensors(path, {}, {});
  EXPECT_EQ(test::read_file(path), test::le<uint64_t>(8) + "{}      ");
}

// A program may write over the very file that it reads from.
TEST(Safetensors, ReplacesAFileThatIsMapped) {
  const TempFolder folder;
  const auto path = folder / "x.safetensors";
  const std::vector<float> numbers(1000, 1.5f);
  write_safetensors(path, std::vector<TensorView>{
                              {"a", {DType::kF32, {1000}}, std::as_bytes(std::span(numbers))}});
  const Safetensors old(path);
  std::vector<TensorView> renamed(old.tensors().begin(), old.tensors().end());
  renamed[0].name = "b";
  write_safetensors(path, renamed);
  const Safetensors now(path);
  EXPECT_TRUE(std::ranges::equal(now.find("b")->bytes, std::as_bytes(std::span(numbers))));
  EXPECT_TRUE(std::ranges::equal(old.find("a")->bytes, std::as_bytes(std::span(numbers))));
}

TEST(Safetensors, RefusesToWriteWhatCannotBeRead) {
  const TempFolder folder;
  const auto path = folder / "x.safetensors";
  const auto write = [&](const std::vector<std::string>& names, const Metadata& metadata) {
    std::vector<TensorView> tensors;
    for (const std::string& name : names) tensors.push_back({name, {DType::kF32, {0}}, {}});
    write_safetensors(path, tensors, metadata);
  };
  expect_error([&] { write({"a", "b", "a"}, {}); }, R"(two tensors are named "a")");
  expect_error([&] { write({"__metadata__"}, {}); }, R"("__metadata__" cannot name a tensor)");
  expect_error([&] { write({"\xff"}, {}); }, R"("\xff" cannot name a tensor)");
  expect_error([&] { write({}, {{"a", "\xc3"}}); }, R"(the metadata at "a" is not UTF-8)");
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

// Files of the reference implementation, made by tools/golden.py.
TEST(Safetensors, ReadsFilesOfTheReference) {
  size_t tensors = 0;
  for (const char* name : {"llama_tiny/model.safetensors", "llama_tiny.safetensors",
                           "adapter_tiny/adapter_model.safetensors", "gguf_blocks.safetensors"}) {
    SCOPED_TRACE(name);
    const Safetensors s(std::filesystem::path("tests/golden") / name);
    tensors += s.tensors().size();
  }
  test::report_cases("tensors of the reference", tensors, 100);
}

}  // namespace
}  // namespace hone::ckpt
