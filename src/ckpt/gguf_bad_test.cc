// GGUF files that lie. Known attacks are named beside their rows.
#include <gtest/gtest.h>

#include "ckpt/expect_error.h"
#include "ckpt/gguf.h"
#include "ckpt/test_files.h"

namespace hone::ckpt {
namespace {

using test::bytes_of;
using test::expect_error;
using test::GgufBuilder;
using test::le;

constexpr uint64_t k63 = uint64_t{1} << 63;
constexpr uint64_t kAll = UINT64_MAX;

struct Bad {
  const char* name;
  std::string file;
  const char* message;
};

GgufBuilder::Tensor floats(std::string name) {
  return {std::move(name), {8}, 0, std::string(32, 1)};
}

std::string with_tensor(GgufBuilder::Tensor t) {
  return GgufBuilder().tensor(std::move(t)).build();
}
std::string with_value(uint32_t type, std::string_view value) {
  return GgufBuilder().raw("k", type, value).build();
}
std::string header(uint32_t version, uint64_t tensors, uint64_t keys, std::string_view rest = "") {
  return "GGUF" + le(version) + le(tensors) + le(keys) + std::string(rest);
}

std::vector<Bad> bad_headers() {
  return {
      {"empty", "", "ends inside the magic"},
      {"short magic", "GGU", "ends inside the magic"},
      {"other magic", "PK\3\4" + std::string(60, 0), "is not a GGUF file"},
      {"lower case magic", "gguf" + std::string(60, 0), "is not a GGUF file"},
      {"version 0", header(0, 0, 0), "is GGUF version 0"},
      {"version 1", header(1, 0, 0), "is GGUF version 1; versions 2 and 3 are read"},
      {"version 4", header(4, 0, 0), "is GGUF version 4"},
      {"big-endian", header(0x03000000, 0, 0), "is a big-endian GGUF file"},
      {"only magic", "GGUF", "ends inside the header"},
      {"2^63 tensors", header(3, k63, 0), "claims 9223372036854775808 tensors"},
      {"all tensors", header(3, kAll, 0), "claims 18446744073709551615 tensors"},
      {"2^63 keys", header(3, 0, k63), "claims 9223372036854775808 metadata keys"},
      {"2^61 keys", header(3, 0, k63 >> 2), "metadata keys; hone reads at most"},
      {"more keys than bytes", header(3, 0, 1000), "claims 1000 metadata keys but holds 0 bytes"},
      {"more tensors than bytes", header(3, 5, 0, std::string(20, 0)),
       "claims 5 tensors but holds"},
      {"one key too many", GgufBuilder().u32("a", 1).build().replace(16, 8, le<uint64_t>(2)),
       "metadata key"},
  };
}

std::vector<Bad> bad_values() {
  const auto text = [](uint64_t length, std::string_view bytes) {
    return with_value(8, le(length) + std::string(bytes));
  };
  const auto array = [](uint32_t type, uint64_t count, std::string_view bytes = "") {
    return with_value(9, le(type) + le(count) + std::string(bytes));
  };
  return {
      // CVE-2024-23496: a string's length plus one wraps to zero.
      {"string of 2^64-1 bytes", text(kAll, "x"), "ends inside a string"},
      {"string of 2^63 bytes", text(k63, "x"), "ends inside a string"},
      {"string one byte too long", with_value(8, le<uint64_t>(5) + "1234").substr(0, 49),
       "ends inside a string"},
      {"key of 2^64-1 bytes", header(3, 0, 1, le(kAll) + std::string(20, 'k')),
       "ends inside a metadata key"},
      {"empty key", GgufBuilder().u32("", 1).build(), "has 0 bytes; 1 to 65535"},
      {"long key", GgufBuilder().u32(std::string(65536, 'k'), 1).build(), "has 65536 bytes"},
      {"key twice", GgufBuilder().u32("a", 1).u32("b", 2).text("a", "x").build(),
       R"(holds the metadata key "a" twice)"},
      {"hostile key", GgufBuilder().u32("a\x1b[2J\nb", 1).u32("a\x1b[2J\nb", 1).build(),
       R"(\x1b[2J)"},
      {"value type 13", with_value(13, le(1)), R"("k" has the unknown value type 13)"},
      {"value type 2^32-1", with_value(0xffffffff, le(1)), "unknown value type 4294967295"},
      {"bool 2", with_value(7, "\2"), "a bool that is neither 0 nor 1"},
      {"bool 255", with_value(7, "\xff"), "a bool that is neither 0 nor 1"},
      {"bool 2 in an array", array(7, 3, std::string("\0\1\2", 3)), "a bool that is neither"},
      {"array element type 99", array(99, 1, "x"), "unknown value type 99"},
      // llama.cpp PR 27188: 43 bytes that claim 2^63 elements.
      {"array of 2^63 u8", array(0, k63), "claims 9223372036854775808 values of u8"},
      {"array of 2^61 u64", array(10, k63 >> 2), "claims 2305843009213693952 values of u64"},
      {"array of 2^62 u32 wraps to 0", array(4, k63 >> 1), "values of u32 but"},
      {"array of 2^63 strings", array(8, k63), "values of string but"},
      {"array of 2^64-1 f64", array(12, kAll), "values of f64 but"},
      {"array one element too long",
       array(5, 9, std::string(32, 0)).substr(0, 24 + 9 + 4 + 12 + 32),
       "claims 9 values of i32 but 32 bytes are left"},
      {"string in an array too long", array(8, 2, le<uint64_t>(1) + "a" + le(k63)),
       "ends inside a string"},
      {"array of arrays", array(9, 1, le(4) + le<uint64_t>(0)), "is an array of arrays"},
      {"deep arrays", array(9, 1, std::string(4000, '\x09')), "is an array of arrays"},
  };
}

std::vector<Bad> bad_alignments() {
  const auto aligned = [](uint32_t value) {
    return GgufBuilder().u32("general.alignment", value).tensor(floats("a")).build();
  };
  const auto of_type = [](uint32_t type, std::string_view value) {
    return GgufBuilder().raw("general.alignment", type, value).build();
  };
  return {
      {"alignment 0", aligned(0), "general.alignment is 0; it must be a power of two"},
      {"alignment 1", aligned(1), "general.alignment is 1"},
      {"alignment 4", aligned(4), "general.alignment is 4"},
      {"alignment 24", aligned(24), "general.alignment is 24"},
      {"alignment 2^32-1", aligned(0xffffffff), "general.alignment is 4294967295"},
      {"alignment beyond the file", aligned(uint32_t{1} << 31),
       "but the data section has 0; incomplete"},
      // llama.cpp PR 26318: read as a number whatever its type.
      {"alignment of strings", of_type(8, GgufBuilder::text_bytes("32")), "must be one u32"},
      {"alignment u64", of_type(10, le<uint64_t>(32)), "must be one u32"},
      {"alignment array", of_type(9, le(4) + le<uint64_t>(1) + le(32)), "must be one u32"},
      {"alignment bool", of_type(7, "\1"), "must be one u32"},
  };
}

std::vector<Bad> bad_tensors() {
  const auto claim = [](std::vector<uint64_t> ne, uint32_t type = 0) {
    return with_tensor({"t", std::move(ne), type, std::string(64, 0)});
  };
  const auto at = [](uint64_t offset) {
    return with_tensor({"t", {8}, 0, std::string(32, 0), offset});
  };
  GgufBuilder::Tensor b = floats("b"), lying_rank = floats("t");
  b.offset = 0;
  lying_rank.rank = 5;
  std::vector<Bad> rows = {
      {"empty name", with_tensor(floats("")), "has 0 bytes; 1 to 64"},
      {"name of 65 bytes", with_tensor(floats(std::string(65, 'n'))), "has 65 bytes; 1 to 64"},
      {"name of 2^63 bytes", header(3, 1, 0, le(k63) + std::string(40, 'n')),
       "ends inside a tensor's name"},
      {"name twice", GgufBuilder().tensor(floats("a")).tensor(floats("a")).build(),
       R"(holds the tensor "a" twice)"},
      {"five dimensions", claim({2, 2, 2, 2, 2}), "has 5 dimensions; at most 4"},
      {"rank lies", with_tensor(lying_rank), "has 5 dimensions"},
      {"dimension 0", claim({0}), "has the impossible dimension 0"},
      {"dimension 2^63", claim({k63}), "has the impossible dimension 9223372036854775808"},
      {"dimension 2^64-1", claim({kAll}), "has the impossible dimension 18446744073709551615"},
      // llama.cpp PR 18674: 2^42+1 times 2^22 wraps to a small number.
      {"2^42+1 by 2^22", claim({(uint64_t{1} << 42) + 1, uint64_t{1} << 22}),
       "need more bytes than"},
      {"2^62 elements", claim({k63 >> 1}), "need more bytes than the file has"},
      {"2^62 by 4 wraps to 0", claim({k63 >> 1, 4}), "need more bytes than the file has"},
      {"2^63-1 elements of Q8_0", claim({k63 - 32}, 8), "need more bytes than the file has"},
      {"2^31 cubed", claim({uint64_t{1} << 31, uint64_t{1} << 31, uint64_t{1} << 31}),
       "need more bytes"},
      {"a little beyond the end", claim({17}),
       "has 68 bytes at offset 0 but the data section has 64"},
      {"Q4_0 row of 48", claim({48}, 2),
       "rows of 48 elements, which Q4_0 cannot hold (blocks of 32)"},
      {"Q4_K row of 32", claim({32, 8}, 12), "which Q4_K cannot hold (blocks of 256)"},
      {"Q6_K scalar", claim({}, 14), "rows of 1 elements, which Q6_K cannot hold"},
      {"type 4, removed", claim({32}, 4),
       R"(tensor "t" has ggml type 4, which hone does not read)"},
      {"type 16, IQ2_XXS", claim({256}, 16), "has ggml type 16"},
      {"type 24, I8", claim({8}, 24), "has ggml type 24"},
      {"type 39, MXFP4", claim({32}, 39), "has ggml type 39"},
      {"type 2^32-1", claim({8}, 0xffffffff), "has ggml type 4294967295"},
      {"offset 1", at(1), "begins at 1, not a multiple of the alignment 32"},
      {"offset 16", at(16), "begins at 16, not a multiple"},
      {"offset at the end", at(32), "has 32 bytes at offset 32 but the data section has 32"},
      {"offset beyond the end", at(64), "has 32 bytes at offset 64 but"},
      {"offset 2^63", at(k63), "has 32 bytes at offset 9223372036854775808 but"},
      {"offset plus size wraps", at(kAll - 31), "has 32 bytes at offset 18446744073709551584 but"},
      {"same bytes twice", GgufBuilder().tensor(floats("a")).tensor(b).build(),
       "tensors \"a\" and"},
      {"hostile name", with_tensor(GgufBuilder::Tensor{"x\n\x1b]0;", {0}, 0, ""}),
       R"("x\x0a\x1b]0;")"},
  };
  GgufBuilder partial;
  partial.tensor({"long", {16}, 0, std::string(64, 0)})
      .tensor({"in", {8}, 0, std::string(32, 0), 32});
  rows.push_back({"one inside another", partial.build(), R"(tensors "long" and "in" overlap)"});
  return rows;
}

TEST(GgufBad, EveryLieHasItsLine) {
  size_t cases = 0;
  for (const auto& rows : {bad_headers(), bad_values(), bad_alignments(), bad_tensors()})
    for (const Bad& bad : rows) {
      SCOPED_TRACE(bad.name);
      expect_error([&] { Gguf(bytes_of(bad.file), "x.gguf"); }, bad.message);
      ++cases;
    }
  test::report_cases("bad GGUF files", cases, 80);
}

// Cut anywhere, a file is refused; only the padding after the last tensor may go.
TEST(GgufBad, TruncationAnywhereIsSeen) {
  GgufBuilder b;
  b.text("general.architecture", "llama").texts("tokens", {"a", "bc"}).flag("f", true);
  b.numbers<float>("scores", 6, {1, 2})
      .tensor(floats("a"))
      .tensor({"b", {32, 2}, 2, std::string(36, 1)});
  const std::string whole = b.build();
  EXPECT_NO_THROW(Gguf(bytes_of(whole), "x.gguf"));
  for (size_t n = 0; n < whole.size(); ++n) {
    SCOPED_TRACE(n);
    const std::string cut = whole.substr(0, n);  // its own allocation: sanitizers see one byte past
    expect_error([&] { Gguf(bytes_of(cut), "x.gguf"); }, "x.gguf");
  }
  test::report_cases("truncated GGUF files", whole.size(), 300);
}

}  // namespace
}  // namespace hone::ckpt
