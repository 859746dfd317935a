#include "ckpt/weights.h"

#include <gtest/gtest.h>

#include <thread>

#include "ckpt/expect_error.h"
#include "ckpt/safetensors.h"
#include "ckpt/shard_index.h"
#include "ckpt/test_files.h"

namespace hone::ckpt {
namespace {

namespace fs = std::filesystem;
using test::expect_error;
using test::GgufBuilder;
using test::le;
using test::TempFolder;
using test::write_file;

void write_shard(const fs::path& path, const std::vector<std::string>& names) {
  const std::vector<float> values = {1, 2, 3, 4, 5, 6};
  std::vector<TensorView> tensors;
  for (const std::string& name : names)
    tensors.push_back({name, {DType::kF32, {2, 3}}, std::as_bytes(std::span(values))});
  write_safetensors(path, tensors);
}

void write_index(const fs::path& folder, std::string_view text) {
  write_file(folder / "model.safetensors.index.json", text);
}

std::vector<float> read(const WeightSource& source, std::string_view name, size_t elements) {
  std::vector<float> out(elements);
  source.read_f32(name, out);
  return out;
}

TEST(Weights, ReadsEveryFloatOfSafetensors) {
  const TempFolder folder;
  const std::string f32 = le(1.5f) + le(-2.0f), f64 = le(1.5) + le(-2.0);
  const std::string f16 = le<uint16_t>(0x3e00) + le<uint16_t>(0xc000);
  const std::string bf16 = le<uint16_t>(0x3fc0) + le<uint16_t>(0xc000);
  const Dims dims = {2, 1};
  const std::vector<TensorView> tensors = {{"f64", {DType::kF64, dims}, test::bytes_of(f64)},
                                           {"f32", {DType::kF32, dims}, test::bytes_of(f32)},
                                           {"f16", {DType::kF16, dims}, test::bytes_of(f16)},
                                           {"bf16", {DType::kBF16, dims}, test::bytes_of(bf16)},
                                           {"i64", {DType::kS64, dims}, test::bytes_of(f64)}};
  write_safetensors(folder / "model.safetensors", tensors);
  for (const fs::path& path : {folder.path(), folder / "model.safetensors"}) {
    const auto source = open_weights(path);
    ASSERT_EQ(source->weights().size(), 5u);
    for (const char* name : {"f64", "f32", "f16", "bf16"}) {
      EXPECT_EQ(read(*source, name, 2), (std::vector<float>{1.5f, -2.0f})) << name;
      EXPECT_EQ(source->find(name)->dims, dims);
    }
    EXPECT_EQ(source->find("bf16")->stored, "BF16");
    expect_error([&] { read(*source, "i64", 2); }, R"("i64" is stored as I64, not as floats)");
    expect_error([&] { read(*source, "f8", 2); }, R"(holds no weight "f8")");
    expect_error<ShapeError>([&] { read(*source, "f32", 3); },
                             R"("f32" has 2 elements and there is room for 3)");
  }
}

TEST(Weights, ReadsShards) {
  const TempFolder folder;
  write_shard(folder / "model-1.safetensors", {"a", "b"});
  write_shard(folder / "model-2.safetensors", {"c"});
  write_index(
      folder.path(),
      R"({"metadata":{"total_size":72,"x":[1,{"weight_map":null}]},"weight_map":)"
      R"({"c":"model-2.safetensors","a":"model-1.safetensors","b":"model-1.safetensors"}})");
  const auto source = open_weights(folder.path());
  ASSERT_EQ(source->weights().size(), 3u);
  EXPECT_EQ(source->weights()[2].name, "c");
  EXPECT_EQ(read(*source, "c", 6), (std::vector<float>{1, 2, 3, 4, 5, 6}));
}

TEST(Weights, ReadsGgufUnderAnyName) {
  const TempFolder folder;
  std::string block = le<uint16_t>(0x3c00) + le<uint16_t>(0x4000) + std::string(16, '\x21');
  write_file(folder / "blob", GgufBuilder().tensor({"blk.0.w", {32, 1}, 3, block}).build());
  const auto source = open_weights(folder / "blob");
  EXPECT_EQ(source->find("blk.0.w")->dims, (Dims{1, 32}));
  EXPECT_EQ(source->find("blk.0.w")->stored, "Q4_1");
  const std::vector<float> values = read(*source, "blk.0.w", 32);
  EXPECT_EQ(values.front(), 3.0f);
  EXPECT_EQ(values.back(), 4.0f);
}

struct BadFolder {
  const char* name;
  std::function<void(const fs::path&)> make;
  const char* message;
};

// A folder whose shard model-1 holds a and b, and this index.
BadFolder with_index(const char* name, std::string index, const char* message) {
  return {name,
          [index](const fs::path& p) {
            write_shard(p / "model-1.safetensors", {"a", "b"});
            write_index(p, index);
          },
          message};
}

std::vector<BadFolder> bad_folders() {
  const auto map = [](std::string_view entries) {
    return fmt::format(R"({{"weight_map":{{{}}}}})", entries);
  };
  const std::string both = R"("a":"model-1.safetensors","b":"model-1.safetensors")";
  return {
      {"empty folder", [](const fs::path&) {},
       "holds neither model.safetensors nor model.safetensors.index.json"},
      {"only a pickle", [](const fs::path& p) { write_file(p / "pytorch_model.bin", "x"); },
       "pytorch_model.bin is not read"},
      {"broken model", [](const fs::path& p) { write_file(p / "model.safetensors", "x"); },
       "ends inside the header's length"},
      {"model is a folder",
       [](const fs::path& p) { fs::create_directory(p / "model.safetensors"); },
       "is not a regular file"},
      with_index("missing shard", map(both + R"(,"c":"model-2.safetensors")"),
                 "model-2.safetensors is missing, and"),
      with_index("missing tensor", map(both + R"(,"c":"model-1.safetensors")"),
                 R"(does not hold the tensor "c" that)"),
      with_index("extra tensor", map(R"("a":"model-1.safetensors")"),
                 R"(holds the tensor "b", which)"),
      {"tensor in two shards",
       [both](const fs::path& p) {
         write_shard(p / "model-1.safetensors", {"a", "b"});
         write_shard(p / "model-2.safetensors", {"b", "c"});
         write_index(p, R"({"weight_map":{)" + both + R"(,"c":"model-2.safetensors"}})");
       },
       R"(model-2.safetensors holds the tensor "b", which)"},
      {"broken shard",
       [](const fs::path& p) {
         write_file(p / "s", "x");
         write_index(p, R"({"weight_map":{"a":"s"}})");
       },
       "ends inside the header's length"},
      with_index("empty index", "", "is not JSON: syntax error at byte 1"),
      with_index("index without a map", R"({"metadata":{}})", "names no tensor in its weight_map"),
      with_index("empty map", map(""), "names no tensor in its weight_map"),
      with_index("index is an array", "[]", "holds [ where it may not stand"),
      with_index("index is null", "null", "holds null where it may not stand"),
      with_index("index is text", R"("x")", "holds a string where it may not stand"),
      with_index("map is null", R"({"weight_map":null})", "holds null where it may not stand"),
      with_index("map is text", R"({"weight_map":"x"})", "holds a string where it may not stand"),
      with_index("map is an array", R"({"weight_map":["a"]})", "holds [ where it may not stand"),
      with_index("map of numbers", R"({"weight_map":{"a":1}})",
                 R"(holds a number where it may not stand, in "a")"),
      with_index("map of objects", R"({"weight_map":{"a":{}}})", "holds { where it may not stand"),
      with_index("map of arrays", R"({"weight_map":{"a":["model-1.safetensors"]}})",
                 "holds [ where it may not stand"),
      with_index("map twice", R"({"weight_map":{},"weight_map":{}})", "holds weight_map twice"),
      with_index("tensor twice", map(both + R"(,"a":"model-1.safetensors")"),
                 R"(places the tensor "a" twice)"),
      with_index("shard in another folder", map(R"("a":"../x.safetensors")"),
                 R"("../x.safetensors", which is no plain file name)"),
      with_index("absolute shard", map(R"("a":"/etc/passwd")"),
                 R"("/etc/passwd", which is no plain file name)"),
      with_index("shard is the folder", map(R"("a":".")"), R"(".", which is no plain file name)"),
      with_index("shard without a name", map(R"("a":"")"), "which is no plain file name"),
      with_index("zero byte in a shard's name", map(R"("a":"model-1.safetensors\u0000")"),
                 "which is no plain file name"),
      with_index("deep metadata", R"({"metadata":)" + std::string(100'000, '[') + "}",
                 "is not JSON"),
  };
}

TEST(WeightsBad, EveryFolderHasItsLine) {
  const auto rows = bad_folders();
  for (const BadFolder& bad : rows) {
    SCOPED_TRACE(bad.name);
    const TempFolder folder;
    bad.make(folder.path());
    expect_error([&] { open_weights(folder.path()); }, bad.message);
  }
  test::report_cases("bad model folders", rows.size(), 29);
}

TEST(WeightsBad, IndicesHaveALargestSize) {
  expect_error([] { parse_shard_index(std::string(100'000'001, ' '), "x"); },
               "x has 100000001 bytes");
  std::string many = R"({"weight_map":{)";
  for (int i = 0; i <= 1 << 20; ++i) many += fmt::format(R"("{}":"s",)", i);
  many.back() = '}';
  expect_error([&] { parse_shard_index(many + "}", "x"); }, "x names more than 1048576 tensors");
}

TEST(WeightsBad, OtherFilesAreRefused) {
  const TempFolder folder;
  expect_error([&] { open_weights(folder / "absent"); }, "absent does not exist");
  write_file(folder / "model.bin", "PK");
  expect_error([&] { open_weights(folder / "model.bin"); },
               "is neither a model folder nor a .gguf or .safetensors");
  write_file(folder / "s.gguf", GgufBuilder().raw("split.count", 2, le<uint16_t>(3)).build());
  expect_error([&] { open_weights(folder / "s.gguf"); }, "is one of 3 shards of a GGUF model");
  fs::create_symlink("loop", folder / "loop");
  expect_error([&] { open_weights(folder / "loop"); }, "loop: Too many levels of symbolic links");
  expect_error([&] { open_weights("/dev/null"); }, "is neither a model folder nor");
}

TEST(Weights, ThreadsReadAtOnce) {
  const auto source = open_weights(".deps/models/smollm2-135m/SmolLM2-135M-Instruct.Q4_1.gguf");
  EXPECT_EQ(source->weights().size(), 272u);
  constexpr size_t kElements = 576 * 1536;
  const std::vector<float> want = read(*source, "blk.7.ffn_up.weight", kElements);
  std::vector<std::vector<float>> got(4);
  {
    std::vector<std::jthread> threads;
    for (auto& out : got)
      threads.emplace_back([&] { out = read(*source, "blk.7.ffn_up.weight", kElements); });
  }
  for (const auto& out : got) EXPECT_EQ(out, want);
}

}  // namespace
}  // namespace hone::ckpt
