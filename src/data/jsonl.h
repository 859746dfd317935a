// Chat examples in JSON lines, the format of OpenAI's fine-tuning files:
//   {"messages": [{"role": "user", "content": "..."}, {"role": "assistant", "content": "..."}]}
//
// Read one line at a time, so a file may be larger than memory. Errors are ConfigErrors that begin
// with FILE:LINE; a file that cannot be opened or read is a FileError.
#pragma once

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "text/messages.h"

namespace hone::data {

using Conversation = std::vector<text::Message>;

class JsonlReader {
 public:
  static constexpr size_t kMaxLine = size_t{16} << 20;  // bytes

  explicit JsonlReader(const std::filesystem::path& file);
  // The next example; nothing at the end of the file. Empty lines are passed over.
  std::optional<Conversation> next();
  int64_t line() const { return line_; }  // of the example that next() gave, from 1

 private:
  bool read_line(std::string& text);

  std::filesystem::path file_;
  std::ifstream in_;
  int64_t line_ = 0;
};

// One line, without the newline.
std::string to_json_line(const Conversation& conversation);

}  // namespace hone::data
