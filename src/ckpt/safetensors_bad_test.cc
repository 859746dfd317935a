// Safetensors files that lie.
#include <gtest/gtest.h>

#include "ckpt/expect_error.h"
#include "ckpt/safetensors.h"
#include "ckpt/test_files.h"

namespace hone::ckpt {
namespace {

using test::bytes_of;
using test::expect_error;
using test::le;
using test::safetensors;

constexpr uint64_t k63 = uint64_t{1} << 63;

struct Bad {
  const char* name;
  std::string file;
  const char* message;
};

// {"t": {...}} over a buffer of this size.
std::string one(std::string_view dtype, std::string_view shape, std::string_view offsets,
                size_t buffer) {
  return safetensors(
      fmt::format(R"({{"t":{{"dtype":{},"shape":{},"data_offsets":{}}}}})", dtype, shape, offsets),
      std::string(buffer, 'x'));
}
std::string record(std::string_view fields) {
  return safetensors(fmt::format(R"({{"t":{}}})", fields));
}

// Tensors a, b, ... of bytes from begin to end.
std::string extents(const std::vector<std::pair<int, int>>& spans, size_t buffer) {
  std::string header;
  char name = 'a';
  for (const auto& [begin, end] : spans)
    header += fmt::format(R"({}"{}":{{"dtype":"U8","shape":[{}],"data_offsets":[{},{}]}})",
                          header.empty() ? "{" : ",", name++, end - begin, begin, end);
  return safetensors(header + "}", std::string(buffer, 'x'));
}

std::vector<Bad> bad_headers() {
  const std::string good = one(R"("F32")", "[2]", "[0,8]", 8);
  return {
      {"empty", "", "ends inside the header's length"},
      {"seven bytes", std::string(7, '\0'), "ends inside the header's length"},
      {"header of 0 bytes", le<uint64_t>(0), "is not a safetensors file"},
      // safetensors_abuse_attempt_1: the header claims more than the file has.
      {"header of 1000 in a small file", le<uint64_t>(1000) + good.substr(8),
       "ends inside the header"},
      {"header of 100,000,001", le<uint64_t>(100'000'001) + "{}", "has at most 100000000"},
      {"header of 100,000,000 in a small file", le<uint64_t>(100'000'000) + "{}",
       "ends inside the header"},
      {"header of 2^63", le(k63) + "{}", "claims a header of 9223372036854775808 bytes"},
      {"header of 2^64-1", le(UINT64_MAX) + "{}", "claims a header of 18446744073709551615 bytes"},
      {"header one byte short", le<uint64_t>(good.size() - 17) + good.substr(8), "is not JSON"},
      {"header one byte long", le<uint64_t>(good.size() - 15) + good.substr(8),
       "does not end with }"},
      {"a zip", "PK\3\4" + std::string(100, '\0'), "ends inside the header"},
      {"a GGUF", "GGUF" + le<uint32_t>(3) + std::string(100, '\0'), "claims a header of"},
      {"space first", safetensors(" {}"), "is not a safetensors file"},
      {"byte order mark", safetensors("\xef\xbb\xbf{}"), "is not a safetensors file"},
      {"an array", safetensors("[]"), "is not a safetensors file"},
      {"newline last", safetensors("{}\n"), "does not end with } and spaces"},
      {"zero byte last", safetensors(std::string("{}\0", 3)), "does not end with } and spaces"},
      {"two objects", safetensors("{}{}"), "is not JSON: syntax error at byte 3"},
      {"comment", safetensors("{/*x*/}"), "is not JSON: syntax error at byte 2"},
      {"comma last", safetensors(R"({"__metadata__":{},})"), "is not JSON"},
      {"single quotes", safetensors("{'a':{}}"), "is not JSON"},
      {"not UTF-8", safetensors("{\"\xff\":{}}"), "is not JSON"},
      {"half a surrogate", safetensors(R"({"\ud800":{}})"), "is not JSON"},
      {"zero byte inside", safetensors(std::string("{\0}", 3)), "is not JSON"},
      {"unclosed", safetensors(R"({"__metadata__":{})"), "is not JSON"},
      {"deep objects", safetensors("{\"a\":" + std::string(100'000, '{') + "}"), "is not JSON"},
      {"deep arrays", safetensors("{\"a\":" + std::string(100'000, '[') + "}"),
       "holds [ where it may not stand"},
  };
}

std::vector<Bad> bad_grammar() {
  return {
      {"tensor is null", record("null"), R"(holds null where it may not stand, in the entry "t")"},
      {"tensor is a number", record("1"),
       R"(holds a number where it may not stand, in the entry "t")"},
      {"tensor is text", record(R"("F32")"), "holds a string where it may not stand"},
      {"tensor is an array", record("[]"), "holds [ where it may not stand"},
      {"tensor is true", record("true"), "holds true or false where it may not stand"},
      {"empty record", record("{}"), R"(lacks dtype in tensor "t")"},
      {"no shape", record(R"({"dtype":"F32","data_offsets":[0,0]})"),
       R"(lacks shape in tensor "t")"},
      {"no offsets", record(R"({"dtype":"F32","shape":[0]})"),
       R"(lacks data_offsets in tensor "t")"},
      {"unknown field", record(R"({"dtype":"F32","stride":[1]})"),
       R"(unknown field "stride" in tensor "t")"},
      {"field twice", record(R"({"dtype":"F32","dtype":"F16"})"),
       R"(has "dtype" twice in tensor "t")"},
      {"record in a record", record(R"({"dtype":{}})"),
       R"(holds { where it may not stand, in tensor "t")"},
      {"dtype is a number", one("1", "[2]", "[0,8]", 8), "holds a number where it may not stand"},
      {"dtype unknown", one(R"("F33")", "[2]", "[0,8]", 8),
       R"(gives tensor "t" the unknown dtype "F33")"},
      {"dtype in lower case", one(R"("f32")", "[2]", "[0,8]", 8), R"(the unknown dtype "f32")"},
      {"dtype empty", one(R"("")", "[2]", "[0,8]", 8), R"(the unknown dtype "")"},
      {"dtype we lack", one(R"("F8_E4M3")", "[8]", "[0,8]", 8),
       R"(the unsupported dtype "F8_E4M3")"},
      {"shape is a number", one(R"("F32")", "2", "[0,8]", 8),
       "holds a number where it may not stand"},
      {"shape is nested", one(R"("F32")", "[[2]]", "[0,8]", 8), "holds [ where it may not stand"},
      {"shape of text", one(R"("F32")", R"(["2"])", "[0,8]", 8),
       "holds a string where it may not stand"},
      {"shape negative", one(R"("F32")", "[-2]", "[0,8]", 8),
       "holds a negative number where it may not stand"},
      {"shape a fraction", one(R"("F32")", "[2.0]", "[0,8]", 8),
       "holds a fraction where it may not stand"},
      {"shape with exponent", one(R"("F32")", "[2e0]", "[0,8]", 8),
       "holds a fraction where it may not stand"},
      {"shape null", one(R"("F32")", "[null]", "[0,8]", 8), "holds null where it may not stand"},
      {"shape of 65",
       one(
           R"("U8")",
           "[1" +
               [] {
                 std::string s;
                 for (int i = 0; i < 64; ++i) s += ",1";
                 return s;
               }() +
               "]",
           "[0,1]", 1),
       "more than 64 dimensions"},
      {"offsets of one", one(R"("F32")", "[2]", "[8]", 8),
       R"(needs two data_offsets in tensor "t")"},
      {"offsets of three", one(R"("F32")", "[2]", "[0,8,8]", 8),
       "holds a number where it may not stand"},
      {"offsets negative", one(R"("F32")", "[2]", "[-8,0]", 8), "holds a negative number"},
      {"offsets an object", one(R"("F32")", "[2]", R"({"begin":0})", 8),
       "holds { where it may not stand"},
      {"tensor twice",
       safetensors(
           R"({"t":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},"t":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}})"),
       R"(holds the tensor "t" twice)"},
      {"same name by escape",
       safetensors(
           R"({"t":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},"\u0074":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}})"),
       R"(holds the tensor "t" twice)"},
      {"metadata twice", safetensors(R"({"__metadata__":{},"__metadata__":{}})"),
       "holds __metadata__ twice"},
      {"metadata key twice", safetensors(R"({"__metadata__":{"a":"1","a":"2"}})"),
       R"(has the metadata key "a" twice)"},
      {"metadata number", safetensors(R"({"__metadata__":{"a":1}})"),
       "holds a number where it may not stand, in __metadata__"},
      {"metadata object", safetensors(R"({"__metadata__":{"a":{}}})"),
       "holds { where it may not stand, in __metadata__"},
      {"metadata null", safetensors(R"({"__metadata__":null})"),
       "holds null where it may not stand"},
      {"metadata text", safetensors(R"({"__metadata__":"pt"})"),
       "holds a string where it may not stand"},
      {"hostile name", safetensors(R"({"\u001b[2J\n":{}})"),
       R"(lacks dtype in tensor "\x1b[2J\x0a")"},
  };
}

std::vector<Bad> bad_extents() {
  return {
      {"end beyond the buffer", one(R"("F32")", "[2]", "[0,8]", 7),
       "lies at bytes 0 to 8 of a buffer of 7"},
      {"end 2^63", one(R"("F32")", "[2]", "[0,9223372036854775808]", 8),
       "lies at bytes 0 to 9223372036854775808"},
      {"both 2^64-1", one(R"("F32")", "[0]", "[18446744073709551615,18446744073709551615]", 8),
       "lies at bytes 18446744073709551615"},
      {"offset above 2^64", one(R"("F32")", "[2]", "[0,18446744073709551616]", 8),
       "holds a fraction where it may not"},
      {"end before begin", one(R"("F32")", "[2]", "[8,0]", 8),
       "lies at bytes 8 to 0 of a buffer of 8"},
      {"too few bytes", one(R"("F32")", "[3]", "[0,8]", 8),
       R"(tensor "t" takes 12 bytes but its data_offsets hold 8)"},
      {"too many bytes", one(R"("F32")", "[1]", "[0,8]", 8),
       "takes 4 bytes but its data_offsets hold 8"},
      {"wrong dtype for the bytes", one(R"("F16")", "[2]", "[0,8]", 8),
       "takes 4 bytes but its data_offsets hold 8"},
      {"empty shape over bytes", one(R"("F32")", "[0]", "[0,8]", 8),
       "takes 0 bytes but its data_offsets hold 8"},
      {"scalar over more", one(R"("F32")", "[]", "[0,8]", 8),
       "takes 4 bytes but its data_offsets hold 8"},
      {"dimension 2^63", one(R"("U8")", "[9223372036854775808]", "[0,8]", 8),
       "the impossible dimension 9223372036854775808"},
      {"dimension above 2^64", one(R"("U8")", "[18446744073709551624]", "[0,8]", 8),
       "holds a fraction"},
      {"product wraps to 8", one(R"("F64")", "[2305843009213693953]", "[0,8]", 8),
       "the dimensions of tensor \"t\" overflow"},
      {"product wraps to 0", one(R"("F32")", "[4294967296,4294967296]", "[0,0]", 0), "overflow"},
      {"product wraps twice",
       one(R"("F32")", "[4611686018427387904,4611686018427387904,4]", "[0,0]", 0), "overflow"},
      {"hole at the front", extents({{1, 4}}, 4),
       R"(tensor "a" begins at 1 of the buffer but 0 bytes come before it: there is a hole)"},
      {"hole inside", extents({{0, 2}, {3, 4}}, 4), R"(tensor "b" begins at 3)"},
      {"bytes at the end", extents({{0, 3}}, 4), "1 bytes follow the last tensor"},
      {"bytes and no tensor", safetensors("{}", "polyglot"), "8 bytes follow the last tensor"},
      {"overlap", extents({{0, 3}, {2, 4}}, 4), "but 3 bytes come before it: tensors overlap"},
      {"inside another", extents({{0, 4}, {1, 2}}, 4), "tensors overlap"},
      // safetensors_abuse_attempt_2 and 3: many tensors share the same bytes.
      {"the same bytes twice", extents({{0, 4}, {0, 4}}, 4), "tensors overlap"},
  };
}

TEST(SafetensorsBad, EveryLieHasItsLine) {
  size_t cases = 0;
  for (const auto& rows : {bad_headers(), bad_grammar(), bad_extents()})
    for (const Bad& bad : rows) {
      SCOPED_TRACE(bad.name);
      expect_error([&] { Safetensors(bytes_of(bad.file), "x.safetensors"); }, bad.message);
      ++cases;
    }
  test::report_cases("bad safetensors files", cases, 86);
}

TEST(SafetensorsBad, TooManyEntriesAreRefusedBeforeTheyCostMuch) {
  std::string tensors = "{", metadata = R"({"__metadata__":{)";
  for (int i = 0; i <= 1 << 18; ++i)
    tensors += fmt::format(R"("{}":{{"dtype":"U8","shape":[],"data_offsets":[0,1]}},)", i);
  for (int i = 0; i <= 65'536; ++i) metadata += fmt::format(R"("{}":"",)", i);
  tensors.back() = '}';
  metadata.back() = '}';
  const std::pair<std::string, const char*> cases[] = {
      {safetensors(tensors, "x"), "names more than 262144 tensors"},
      {safetensors(metadata + "}"), "has more than 65536 metadata entries"}};
  for (const auto& [file, message] : cases)
    expect_error([&] { Safetensors(bytes_of(file), "x.safetensors"); }, message);
}

// The JSON parser would copy them several times over.
TEST(SafetensorsBad, LongTokensAreRefusedBeforeTheyAreCopied) {
  constexpr size_t kMost = size_t{8} << 20;
  const auto open = [](std::string_view header) {
    Safetensors(bytes_of(safetensors(header)), "x");
  };
  for (const char* around : {"{\"@\":1}", "{\"a\":@}", "{\"a\":{\"dtype\":\"@}"}) {
    SCOPED_TRACE(around);
    const std::string_view text = around;
    const size_t at = text.find('@');
    const auto filled = [&](size_t n, char c) {
      return std::string(text.substr(0, at)) + std::string(n, c) + std::string(text.substr(at + 1));
    };
    expect_error([&] { open(filled(kMost + 1, '1')); },
                 "a string or number of more than 8388608 bytes");
    expect_error([&] { open(filled(kMost / 2, '1')); }, "x: the header");
  }
  const std::string many = "{\"__metadata__\":{\"a\":\"" + std::string(kMost / 2, ',') +
                           "\",\"b\":\"" + std::string(kMost / 2, '\\') + "\"}}";
  EXPECT_NO_THROW(open(many));
}

TEST(SafetensorsBad, TruncationAnywhereIsSeen) {
  const std::string whole = safetensors(
      R"({"__metadata__":{"format":"pt"},"a":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]},)"
      R"("b":{"dtype":"U8","shape":[3],"data_offsets":[16,19]}}  )",
      std::string(19, 'x'));
  EXPECT_NO_THROW(Safetensors(bytes_of(whole), "x.safetensors"));
  for (size_t n = 0; n < whole.size(); ++n) {
    SCOPED_TRACE(n);
    const std::string cut = whole.substr(0, n);
    expect_error([&] { Safetensors(bytes_of(cut), "x.safetensors"); }, "x.safetensors");
  }
  test::report_cases("truncated safetensors files", whole.size(), 170);
}

}  // namespace
}  // namespace hone::ckpt
