// Chat examples as JSON lines, in the format messages: {"messages": [{"role", "content"} ...]}.
#pragma once

#include <filesystem>
#include <span>

#include "data/example.h"

namespace hone::data {

// The whole file or none of it. Throws ConfigError when a text is not UTF-8, FileError.
void write_jsonl(const std::filesystem::path& file, std::span<const Example> examples);

}  // namespace hone::data
