#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "base/crc32c.h"
#include "base/error.h"
#include "base/random.h"
#include "data/row.h"
#include "data/tf_example.h"
#include "data/tfrecord.h"

namespace hone::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::filesystem::path written(const std::string& name, const std::string& bytes) {
  const auto file =
      std::filesystem::path(testing::TempDir()) / ("hone_rows_" + std::to_string(getpid()) + name);
  std::ofstream(file, std::ios::binary) << bytes;
  return file;
}

// The rows as JSON lines, or "ERR " and the message without the file's folder.
std::string read(const std::string& name, const std::string& bytes, const RowLimits& limits = {}) {
  const auto file = written(name, bytes);
  std::string text;
  try {
    const auto rows = open_rows(file, limits);
    while (auto row = rows->next()) text += row->dump() + "\n";
    EXPECT_FALSE(rows->next().has_value()) << "after the end";
  } catch (const Error& e) {
    text += std::string("ERR ") + e.what();
    EXPECT_EQ(std::string_view(e.what()).find('\n'), std::string_view::npos) << e.what();
  }
  const std::string path = file.string();
  for (size_t at = text.find(path); at != std::string::npos; at = text.find(path))
    text.replace(at, path.size(), "FILE");
  return text;
}

TEST(Rows, OfEachKindOfText) {
  const struct {
    const char *name, *bytes, *rows;
  } table[] = {
      {"a.jsonl", "", ""},
      {"a.jsonl", "{\"b\": 1, \"a\": [2]}\r\n\n  \t\n{\"c\":\"é\"}",
       "{\"b\":1,\"a\":[2]}\n{\"c\":\"é\"}\n"},
      {"a.ndjson", "{}\n", "{}\n"},
      {"a.json", " [ {\"a\": \"]}\\\"\"} ,\n{\"b\":[{}]}\n] \n",
       "{\"a\":\"]}\\\"\"}\n{\"b\":[{}]}\n"},
      {"a.json", "[]", ""},
      {"a.json", "\n{\"a\":1}\n{\"a\":2}\n", "{\"a\":1}\n{\"a\":2}\n"},
      {"a.csv", "a,b\n1,2\n", "{\"a\":\"1\",\"b\":\"2\"}\n"},
      {"a.csv", "\xef\xbb\xbf\"a\",b\r\n\"x\"\"\n,\",\r\n\r\n,y",
       "{\"a\":\"x\\\"\\n,\",\"b\":\"\"}\n{\"a\":\"\",\"b\":\"y\"}\n"},
      {"a.csv", "text\nx\n\ny\n", "{\"text\":\"x\"}\n{\"text\":\"\"}\n{\"text\":\"y\"}\n"},
      {"a.tsv", "a\tb\n1,5\t2\n", "{\"a\":\"1,5\",\"b\":\"2\"}\n"},
      {"a.txt", "one\n\n  two\r\n", "{\"text\":\"one\"}\n{\"text\":\"  two\"}\n"},
  };
  for (const auto& row : table) EXPECT_EQ(read(row.name, row.bytes), row.rows) << row.bytes;
  std::printf("%zu files\n", std::size(table));
  EXPECT_GE(std::size(table), 11u);
}

TEST(Rows, NameFileLineAndFault) {
  const struct {
    const char *name, *bytes, *error;
  } table[] = {
      {"b.jsonl", "{}\n\n{", "ERR FILE:3 is not JSON"},
      {"b.jsonl", "[]", "ERR FILE:1: the row is not an object"},
      {"b.jsonl", "{} {}", "is not JSON"},
      {"b.jsonl", "{\"a\":1,\"a\":2}", "key \"a\" appears twice"},
      {"b.jsonl", "{\"a\":\"\xff\"}", "is not JSON"},
      {"b.jsonl", "{\"a\":\"\\ud800\"}", "is not JSON"},
      {"b.jsonl", "[[[[[[[[[[", "nested deeper than 8 levels"},
      {"b.jsonl",
       "{\"a\":\"0123456789012345678901234567890123456789012345678901234567890123456789\"}",
       "ERR FILE:1: the line is longer than 64 bytes"},
      {"b.json", "1", "ERR FILE:1: expected a list"},
      {"b.json", "", "ERR FILE:1: expected a list"},
      {"b.json", "[{},\n1]", "FILE:2 (item 2): the row is not an object"},
      {"b.json", "[{}\n{}]", "FILE:2: expected a comma or the end of the list"},
      {"b.json", "[{}]x", "FILE:1: there is more after the list"},
      {"b.json", "[{}", "expected a comma or the end of the list"},
      {"b.json", "[{\"a\":", "is not JSON"},
      {"b.json", "[{},]", "is not JSON"},
      {"b.json",
       "[{\"a\":\"0123456789012345678901234567890123456789012345678901234567890123456789\"}]",
       "longer than 64 bytes"},
      {"b.csv", "", "FILE is empty: it has no header line"},
      {"b.csv", "a,a\n", "FILE:1: the column \"a\" appears twice"},
      {"b.csv", "a\x80\n1\n", "FILE:1: the column \"a\\x80\" is not UTF-8"},
      {"b.csv", "a,b\n1\n", "FILE:2: 1 fields, but the header has 2"},
      {"b.csv", "a\n\"x\ny\"\n1,2\n", "FILE:4: 2 fields, but the header has 1"},
      {"b.csv", "a\n\"x", "FILE:2: a quote that is never closed"},
      {"b.csv", "a\n\"x\"y\n", "FILE:2: text after a closing quote"},
      {"b.csv", "a\nx\"y\n", "FILE:2: a quote inside a field"},
      {"b.csv", "a\n\xff\n", "FILE:2: column \"a\" is not UTF-8"},
      {"b.csv", "a\n0123456789012345678901234567890123456789012345678901234567890123456789\n",
       "FILE:2: the row is longer than 64 bytes"},
      {"b.txt", "a\n\xff\n", "FILE:2: the line is not UTF-8"},
      {"b.bin", "a", "a file of an unknown kind"},
      {"b.parquet", "PAR1", "cannot open FILE"},
      {"b.parquet", "not a parquet file at all", "cannot open FILE"},
      {"b.tfrecord", "x", "FILE, record 1 is damaged: the file ends inside its length"},
      {"b.tfrecord", "0123456789abcdef", "is this a TFRecord file?"},
  };
  for (const auto& row : table)
    EXPECT_THAT(read(row.name, row.bytes, {.row_bytes = 64, .depth = 8}), HasSubstr(row.error))
        << row.bytes;
  std::printf("%zu bad files\n", std::size(table));
  EXPECT_GE(std::size(table), 33u);
}

// tools/golden_parquet.py: snappy, zstd in two row groups, gzip with pages of version 2.
TEST(Rows, OfParquet) {
  const std::string wanted =
      R"({"id":1,"score":0.5,"good":true,"input_ids":[1,2,3],"messages":[{"role":"user","content":"hé\n"},{"role":"assistant","content":""}]}
{"id":null,"score":null,"good":null,"input_ids":null,"messages":null}
{"id":-4611686018427387904,"score":-1e+300,"good":false,"input_ids":[],"messages":[{"role":"user","content":null}]}
)";
  for (const char* compression : {"snappy", "zstd", "gzip"}) {
    const auto rows = open_rows(fmt::format("tests/golden/rows_{}.parquet", compression));
    std::string text;
    while (const auto row = rows->next()) text += row->dump() + "\n";
    EXPECT_EQ(text, wanted) << compression;
    EXPECT_FALSE(rows->next().has_value());
  }
}

// Cut anywhere, or with any byte changed, it gives rows or an error of one line.
TEST(Rows, DamagedParquetIsRefused) {
  std::ifstream in("tests/golden/rows_snappy.parquet", std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(in), {}};
  for (size_t n = 0; n < whole.size(); n += 7)
    EXPECT_THAT(read("cut.parquet", whole.substr(0, n)), HasSubstr("ERR ")) << n;
  int changed = 0, refused = 0;
  for (size_t n = 0; n < whole.size(); n += 3, ++changed) {
    std::string bytes = whole;
    bytes[n] = static_cast<char>(bytes[n] ^ 0x55);
    refused += read("flip.parquet", bytes).find("ERR ") != std::string::npos ? 1 : 0;
  }
  std::printf("%d changed bytes, %d refused\n", changed, refused);
  EXPECT_GE(refused, 100);
}

TEST(Rows, BuffersMeetAnywhere) {  // lines that cross the reader's buffer of 256 KiB
  std::string bytes, rows;
  for (int i = 0; i < 40; ++i) {
    const std::string row =
        "{\"text\":\"" + std::string(static_cast<size_t>(9973 + 977 * i), 'x') + "\"}\n";
    bytes += row;
    rows += row;
  }
  EXPECT_EQ(read("long.jsonl", bytes), rows);
}

TEST(Rows, PatternsStandForFilesInOrder) {
  const auto folder =
      std::filesystem::path(testing::TempDir()) / ("hone_rows_pattern_" + std::to_string(getpid()));
  std::filesystem::create_directories(folder / "d.jsonl");
  for (const char* name : {"b2.jsonl", "b10.jsonl", "a.jsonl", "a.txt", ".b.jsonl"})
    std::ofstream(folder / name) << "";
  const auto names = [&](const char* pattern) {
    std::vector<std::string> found;
    for (const auto& file : expand((folder / pattern).string())) found.push_back(file.filename());
    return found;
  };
  EXPECT_THAT(names("*.jsonl"), ElementsAre("a.jsonl", "b10.jsonl", "b2.jsonl"));
  EXPECT_THAT(names("b?.jsonl"), ElementsAre("b2.jsonl"));
  EXPECT_THAT(names("*a*t*"), ElementsAre("a.txt"));
  EXPECT_THAT(names("none.jsonl"), ElementsAre("none.jsonl"));  // opening it says what is wrong
  EXPECT_THROW(names("x*"), FileError);
  EXPECT_THROW(expand("a*/b.jsonl"), ConfigError);
}

TEST(Crc32c, KnownValues) {  // RFC 3720, B.4
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aaU);
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62a8ab43U);
  EXPECT_EQ(crc32c("123456789"), 0xe3069283U);
  EXPECT_EQ(crc32c(""), 0U);
}

// Bytes that TensorFlow's definition asks for: {"t": bytes "hi"}.
TEST(TfExample, GoldenBytes) {
  const std::string example = tf_example(Row{{"t", "hi"}});
  EXPECT_EQ(example, std::string("\x0a\x0d\x0a\x0b\x0a\x01t\x12\x06\x0a\x04\x0a\x02hi", 15));
  const std::string ids = tf_example(Row{{"i", {1, 300, -1}}});
  EXPECT_EQ(ids, std::string("\x0a\x18\x0a\x16\x0a\x01i\x12\x11\x1a\x0f\x0a\x0d\x01\xac\x02"
                             "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"));
  EXPECT_EQ(parse_tf_example(ids, "x", {}).dump(), "{\"i\":[1,300,-1]}");
}

TEST(TfExample, ReadsFloatsAndNumbersThatAreNotPacked) {
  // feature "f": float_list {value: 1.5 (packed), 2 (not)}, feature "i": int64_list {7} not packed
  const std::string f(
      "\x0a\x01"
      "f\x12\x0d\x12\x0b\x0a\x04\0\0\xc0\x3f\x0d\0\0\0\x40",
      18);
  const std::string i("\x0a\x01i\x12\x04\x1a\x02\x08\x07", 9);
  const auto wrapped = [](const std::string& s) {
    return "\x0a" + std::string(1, static_cast<char>(s.size())) + s;
  };
  EXPECT_EQ(parse_tf_example(wrapped(wrapped(f) + wrapped(i)), "x", {}).dump(),
            "{\"f\":[1.5,2.0],\"i\":[7]}");
}

TEST(TfRecord, EveryRowComesBack) {
  const char* const rows[] = {
      "{}",
      R"({"text":"héllo"})",
      R"({"text":""})",
      R"({"input_ids":[1,2,-100,9223372036854775807],"labels":[]})",
      R"({"z":["a","b"],"a":["one"],"m":[1,"x"],"e":[],"n":null,"t":true,"i":5,"f":0.1,"big":18446744073709551615})",
      R"({"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"{}"}],"tools":"[]"})",
      R"({"x:json":"text","x":{"y:json":[1.5]}})",
  };
  std::string file;
  std::string wanted;
  for (const char* row : rows) {
    file += tfrecord(Row::parse(row));
    wanted += std::string(row) + "\n";
  }
  EXPECT_EQ(read("back.tfrecord", file), wanted);
}

TEST(TfRecord, EveryCutAndEveryFlippedBitIsSeen) {
  const std::string file = tfrecord(Row{{"text", "hello"}}) + tfrecord(Row{{"ids", {1, 2, 3}}});
  int cases = 0;
  const size_t first = tfrecord(Row{{"text", "hello"}}).size();
  for (size_t n = 1; n < file.size(); ++n) {
    if (n == first) continue;  // a whole record
    EXPECT_THAT(read("cut.tfrecord", file.substr(0, n)), HasSubstr("is damaged")) << n;
    ++cases;
  }
  for (size_t bit = 0; bit < 8 * file.size(); ++bit, ++cases) {
    std::string bytes = file;
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
    EXPECT_THAT(read("flip.tfrecord", bytes), HasSubstr("is damaged")) << bit;
  }
  std::printf("%d damaged files\n", cases);
  EXPECT_GE(cases, 500);
}

}  // namespace
}  // namespace hone::data
