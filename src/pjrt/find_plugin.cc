#include <array>
#include <cstdlib>
#include <optional>
#include <string>
#include <system_error>

#include "pjrt/plugin.h"

namespace hone::pjrt {
namespace {

namespace fs = std::filesystem;

// The nearest folder that holds `.deps`, at `from` or above.
std::optional<fs::path> project_root(fs::path from) {
  std::error_code ignored;
  for (;; from = from.parent_path()) {
    if (fs::is_directory(from / ".deps", ignored)) return from;
    if (from == from.parent_path()) return std::nullopt;
  }
}

}  // namespace

fs::path find_plugin() {
  if (const char* named = std::getenv("HONE_PJRT_PLUGIN"); named != nullptr && *named != '\0')
    return named;
  std::error_code ignored;
  return find_plugin(std::array{fs::read_symlink("/proc/self/exe", ignored).parent_path(),
                                fs::current_path(ignored)});
}

fs::path find_plugin(std::span<const fs::path> starts) {
  constexpr std::array kEngines{".deps/pjrt-cpu/pjrt_c_api_cpu_plugin.so",
                                ".deps/pjrt-cpu-fallback/libpjrt_cpu.so"};
  for (const fs::path& start : starts) {
    const std::optional<fs::path> root = project_root(start);
    if (!root) continue;
    std::error_code ignored;
    for (const char* engine : kEngines)
      if (fs::exists(*root / engine, ignored)) return *root / engine;
  }
  throw FileError(
      "no PJRT plugin found: neither {} nor {} here or above; run ./hone to set up, or name one in "
      "HONE_PJRT_PLUGIN",
      kEngines[0], kEngines[1]);
}

}  // namespace hone::pjrt
