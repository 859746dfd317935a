#include "data/byte_reader.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace hone::data {
namespace {
constexpr size_t kBuffer = size_t{1} << 18;
}

ByteReader::ByteReader(const std::filesystem::path& file)
    : name_(file.string()), in_(file, std::ios::binary), buffer_(kBuffer) {
  if (!in_) throw FileError("cannot open {}: {}", name_, std::strerror(errno));
  std::error_code failed;
  if (std::filesystem::is_directory(file, failed)) throw FileError("{} is a folder", name_);
  size_ = static_cast<int64_t>(std::filesystem::file_size(file, failed));
  if (failed) throw FileError("cannot read {}: {}", name_, failed.message());
}

bool ByteReader::fill() {
  in_.read(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
  at_ = 0;
  end_ = static_cast<size_t>(in_.gcount());
  filled_ += static_cast<int64_t>(end_);
  if (in_.bad()) throw FileError("cannot read {}: {}", name_, std::strerror(errno));
  return end_ > 0;
}

bool ByteReader::read(char* to, size_t bytes) {
  while (bytes > 0) {
    const std::string_view there = buffered();
    if (there.empty()) return false;
    const size_t n = std::min(bytes, there.size());
    std::copy_n(there.data(), n, to);
    take(n);
    to += n;
    bytes -= n;
  }
  return true;
}

bool read_line(ByteReader& in, std::string& line, int64_t number, size_t most) {
  line.clear();
  if (in.peek() == ByteReader::kEnd) return false;
  for (std::string_view there = in.buffered(); !there.empty(); there = in.buffered()) {
    const size_t end = there.find('\n');
    const size_t n = std::min(end, there.size());
    if (line.size() + n > most)
      throw ConfigError("{}:{}: the line is longer than {} bytes", in.name(), number, most);
    line.append(there.substr(0, n));
    in.take(end == std::string_view::npos ? n : n + 1);
    if (end != std::string_view::npos) break;
  }
  if (line.ends_with('\r')) line.pop_back();
  return true;
}

}  // namespace hone::data
