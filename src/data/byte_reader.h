// A file read forwards, a buffer at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace hone::data {

class ByteReader {
 public:
  static constexpr int kEnd = -1;

  // Throws FileError: no such file, a folder.
  explicit ByteReader(const std::filesystem::path& file);

  int get() { return at_ < end_ || fill() ? static_cast<unsigned char>(buffer_[at_++]) : kEnd; }
  int peek() { return at_ < end_ || fill() ? static_cast<unsigned char>(buffer_[at_]) : kEnd; }
  // Up to `most` bytes that are there, at least one but at the end; take() them afterwards.
  std::string_view buffered() {
    if (at_ == end_) fill();
    return {buffer_.data() + at_, end_ - at_};
  }
  void take(size_t bytes) { at_ += bytes; }
  // Exactly so many bytes, or false when the file ends before.
  bool read(char* to, size_t bytes);

  int64_t position() const { return filled_ - static_cast<int64_t>(end_ - at_); }
  int64_t size() const { return size_; }  // of the file, when it was opened
  int64_t left() const { return size_ - position(); }
  const std::string& name() const { return name_; }

 private:
  bool fill();

  std::string name_;
  std::ifstream in_;
  std::vector<char> buffer_;
  size_t at_ = 0, end_ = 0;
  int64_t filled_ = 0, size_ = 0;
};

// A line without its end ("\n", "\r\n"); false at the end of the file. Throws ConfigError
// "NAME:LINE: the line is longer than ..." beyond `most` bytes.
bool read_line(ByteReader& in, std::string& line, int64_t number, size_t most);

}  // namespace hone::data
