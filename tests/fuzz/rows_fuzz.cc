// The first byte of an input says what kind of file the rest is.
#include <unistd.h>

#include <fstream>

#include "base/quote.h"
#include "data/format.h"
#include "fuzz/fuzz.h"

namespace hone {
namespace {

using data::Row;

std::unique_ptr<data::RowReader> open(char kind, const std::filesystem::path& file) {
  const data::RowLimits limits{.row_bytes = size_t{1} << 20, .depth = 32};
  if (kind == 'c') return data::open_csv(file, limits);
  if (kind == 'a') return data::open_json(file, limits);
  if (kind == 't') return data::open_text(file, limits);
  return data::open_json_lines(file, limits);
}

// A row that was read is UTF-8, and each format takes it or says why not.
void look_at(const Row& row) {
  if (!row.is_object() || !valid_utf8(row.dump())) std::abort();
  for (const data::Format& format : data::formats())
    fuzz::accepts([&] { data::content_hash(data::examples_of(format, row)); });
}

const char* const kLines =
    "l{\"messages\":[{\"role\":\"user\",\"content\":\"hi\"},{\"role\":\"assistant\",\"content\":"
    "null,"
    "\"tool_calls\":[{\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"a\\\":1}\"}}]}],\"tools\":["
    "]}\n"
    "{\"conversations\":[{\"from\":\"human\",\"value\":\"a\"},{\"from\":\"gpt\",\"value\":\"b\"}]}"
    "\n"
    "{\"input_ids\":[1,2,3],\"labels\":[-100,2,3],\"attention_mask\":[1,1,1]}\n"
    "{\"prompt\":\"a\",\"chosen\":\"b\",\"rejected\":\"c\",\"completion\":\"d\"}\n";

}  // namespace

const fuzz::Format& fuzz::format() {
  static const Format format{
      {kLines,
       "a[{\"instruction\":\"do\",\"input\":\"\",\"output\":\"x\",\"history\":[[\"q\",\"a\"]]},\n"
       " {\"text\":\"]\\\"}\"}]",
       "cprompt,completion\r\n\"a \"\"b\"\"\n\",c\r\nd,\"\"\n", "tone\n\ntwo \xc3\xa9\r\n"},
      {"\"",
       "\"\"",
       ",",
       "\n",
       "\r\n",
       "{",
       "}",
       "[",
       "]",
       ":",
       "null",
       "true",
       "\\u0000",
       "\\ud800",
       "\\\"",
       "\"messages\"",
       "\"content\"",
       "\"role\"",
       "\"tool_calls\"",
       "\"arguments\"",
       "\"train\":true",
       "\"weight\":1",
       "\"prompt\"",
       "\"chosen\"",
       "\"labels\"",
       "\"text\"",
       "1e999",
       "\xef\xbb\xbf",
       "\xff"}};
  return format;
}

bool fuzz::run(std::span<const std::byte> bytes) {
  static const auto file = std::filesystem::temp_directory_path() /
                           fmt::format("hone_rows_fuzz_{}", static_cast<long>(getpid()));
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (text.empty()) return false;
  std::ofstream(file, std::ios::binary) << text.substr(1);
  return accepts([&] {
    const auto rows = open(text[0], file);
    while (const auto row = rows->next()) look_at(*row);
  });
}

}  // namespace hone
