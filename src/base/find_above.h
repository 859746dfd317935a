// The project's own files: recipes/, models.yaml, .deps.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

namespace hone {

// `name` in the nearest folder above this program that holds it, else in the nearest above the
// current folder (which itself counts).
std::optional<std::filesystem::path> find_above(std::string_view name);

}  // namespace hone
