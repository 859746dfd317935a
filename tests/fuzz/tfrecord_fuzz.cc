#include <unistd.h>

#include <cstring>
#include <fstream>

#include "base/crc32c.h"
#include "base/quote.h"
#include "data/tf_example.h"
#include "data/tfrecord.h"
#include "fuzz/fuzz.h"

namespace hone {
namespace {

// The first record's length and checksums say again what the bytes are, so that the message inside
// is read.
void repair(std::string& input, Random& random) {
  if (input.size() < 16) return;
  uint64_t size = 0;
  std::memcpy(&size, input.data(), 8);
  if (size > input.size() - 16 || random.below(2) == 0) size = input.size() - 16;
  std::memcpy(input.data(), &size, 8);
  const auto put = [&](size_t at, uint32_t crc) { std::memcpy(input.data() + at, &crc, 4); };
  put(8, masked_crc32c(std::string_view(input).substr(0, 8)));
  put(12 + size, masked_crc32c(std::string_view(input).substr(12, size)));
}

// What was read can be written, and comes back the same.
void look_at(const data::Row& row) {
  if (!valid_utf8(row.dump())) std::abort();
  const data::Row again = data::parse_tf_example(data::tf_example(row), "again", {});
  if (again.dump() != row.dump()) std::abort();
}

}  // namespace

const fuzz::Format& fuzz::format() {
  static const Format format{
      {data::tfrecord(data::Row::parse(R"({"text":"hello","ids":[1,2,300]})")),
       data::tfrecord(
           data::Row::parse(R"({"m":[{"role":"user"}],"t":["a","b"],"n":1.5,"z":null})")),
       data::tfrecord(data::Row::object())},
      {":json", "\x0a", "\x12", "\x1a", "\x0a\x02", "\x12\x04", "\x0d", "\xff\xff\xff\xff\x0f",
       "{}", "[", "\"a\""},
      repair};
  return format;
}

bool fuzz::run(std::span<const std::byte> bytes) {
  static const auto file = std::filesystem::temp_directory_path() /
                           fmt::format("hone_tfrecord_fuzz_{}", static_cast<long>(getpid()));
  std::ofstream(file, std::ios::binary)
      << std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return accepts([&] {
    const auto rows = data::open_tfrecord(file, {});
    while (const auto row = rows->next()) look_at(*row);
  });
}

}  // namespace hone
