// hone env: a block that goes into a bug report as it is.
#include <cstdio>
#include <cstdlib>

#include "base/error.h"
#include "base/quote.h"
#include "cli/command.h"
#include "cli/machine.h"
#include "cli/version.h"
#include "pjrt/plugin.h"

namespace hone::cli {
namespace {

struct Options {
  void fields(auto&) {}
};

#ifdef __clang__
constexpr const char* kCompiler = __VERSION__;
#else
constexpr const char* kCompiler = "g++ " __VERSION__;
#endif

std::string engine() {
  try {
    const auto plugin = pjrt::Plugin::load(pjrt::find_plugin());
    return fmt::format("{} (PJRT C API {}.{})", plugin->path().string(), plugin->version().major,
                       plugin->version().minor);
  } catch (const Error& e) {
    return fmt::format("none: {}", e.what());
  }
}

// The variables that change what hone does; none of them holds a secret.
std::string variables() {
  std::string out;
  for (const char* name : {"HONE_PJRT_PLUGIN", "HONE_CACHE", "XDG_CACHE_HOME", "XLA_FLAGS",
                           "NO_COLOR", "HF_HUB_DISABLE_PROGRESS_BARS", "OMP_NUM_THREADS"})
    if (const char* value = std::getenv(name))
      out += fmt::format("{}{}={}", out.empty() ? "" : " ", name, quote(value, 200));
  return out.empty() ? "none set" : out;
}

int run(const Options&) {
  const std::pair<const char*, std::string> lines[] = {
      {"hone", fmt::format("{} ({})", kVersionNumber, kCommit)},
      {"compiler", kCompiler},
      {"system", os_name()},
      {"cpu", cpu_name()},
      {"simd", cpu_simd()},
      {"cores", fmt::format("{} usable", usable_cores())},
      {"memory", fmt::format("{:.1f} GiB, {:.1f} free", gib(memory_total()), gib(memory_free()))},
      {"engine", engine()},
      {"variables", variables()},
  };
  for (const auto& [name, value] : lines)
    std::fputs(fmt::format("{:<10} {}\n", std::string(name) + ":", value).c_str(), stdout);
  return 0;
}

}  // namespace

extern const Command kEnv =
    command<run>("env", "print what a bug report should hold", {"hone env"});

}  // namespace hone::cli
