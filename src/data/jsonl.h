// Chat examples in JSON lines, the format of OpenAI's fine-tuning files:
//   {"messages": [{"role": "user", "content": "..."}, {"role": "assistant", "content": "..."}]}
//
// Read one line at a time, so a file may be larger than memory. What could not be trained on as it
// is meant (tools, weights, parts that are no text) is an error, not left out. Errors are
// ConfigErrors that begin with FILE:LINE; a file that cannot be opened or written is a FileError.
#pragma once

#include <filesystem>
#include <fstream>
#include <optional>
#include <span>
#include <vector>

#include "data/dataset.h"

namespace hone::data {

class JsonlReader {
 public:
  explicit JsonlReader(const std::filesystem::path& file, size_t max_line = size_t{16} << 20);
  // The next example; nothing at the end of the file. Empty lines are passed over.
  std::optional<Example> next();
  int64_t line() const { return line_; }  // of the example that next() gave, from 1

 private:
  bool read_line(std::string& text);

  std::filesystem::path file_;
  size_t max_line_;  // bytes
  std::ifstream in_;
  int64_t line_ = 0;
};

std::vector<Example> read_jsonl(const std::filesystem::path& file);
// The whole file or none of it. Throws ConfigError when a text is not UTF-8.
void write_jsonl(const std::filesystem::path& file, std::span<const Example> examples);

}  // namespace hone::data
