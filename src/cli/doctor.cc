#include "cli/doctor.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "base/error.h"
#include "cli/command.h"
#include "cli/machine.h"
#include "cli/terminal.h"
#include "engine/model_files.h"
#include "pjrt/cache_folder.h"
#include "pjrt/custom_calls.h"
#include "pjrt/executable_cache.h"

namespace hone::cli {
namespace {

namespace fs = std::filesystem;
using enum Finding::Status;

constexpr uint64_t kGiB = uint64_t{1} << 30;
constexpr uint64_t kLeastMemory = 3 * kGiB;  // the demo's step, with room for the build
constexpr uint64_t kLeastDisk = 2 * kGiB;    // adapters, metrics and compiled programs

// The engine, and then what it can do.
void check_engine(std::vector<Finding>& out) try {
  const auto plugin = pjrt::Plugin::load(pjrt::find_plugin());
  out.push_back({kOk, fmt::format("engine {} (PJRT C API {}.{})", plugin->path().string(),
                                  plugin->version().major, plugin->version().minor)});
  if (pjrt::supports_custom_calls(pjrt::Client::create(plugin)))
    out.push_back({kOk, "custom calls run: the kernels of hone are used"});
  else
    out.push_back({kWarn, "custom calls do not run: plain compositions are used instead",
                   "results are the same but slower; HONE_PJRT_PLUGIN names another engine"});
} catch (const Error& e) {
  out.push_back({kFail, e.what(), "run ./hone to set up, or name an engine in HONE_PJRT_PLUGIN"});
}

Finding check_cache() {
  const fs::path folder = pjrt::ExecutableCache::default_folder();
  if (folder.empty())
    return {kWarn, "no cache folder: every start compiles again",
            "set HONE_CACHE to a folder of yours"};
  const auto opened = pjrt::CacheFolder::open(folder);
  if (opened) return {kOk, fmt::format("cache folder {}", folder.string())};
  return {kWarn, fmt::format("cache folder: {}", opened.error()),
          "every start compiles again; chmod 700 it, or set HONE_CACHE to a folder of yours"};
}

Finding check_model() try {
  return {kOk, fmt::format("model {}", engine::find_model("smollm2-135m").string())};
} catch (const Error& e) {
  return {kWarn, e.what(), "hone demo needs it: run ./hone to set up"};
}

Finding check_simulator() {
  for (const char* program : {"iverilog", "vvp"})
    if (!on_path(program))
      return {kWarn, fmt::format("{} is not on the PATH", program),
              "hone demo needs it: apt-get install iverilog"};
  return {kOk, "iverilog and vvp are on the PATH"};
}

Finding check_memory() {
  const std::string what = fmt::format("{:.1f} GiB of memory are free", gib(memory_free()));
  if (memory_free() >= kLeastMemory) return {kOk, what};
  return {kWarn, what, "training SmolLM2-135M wants 3 GiB: lower batch.micro or data.seq_len"};
}

Finding check_disk() {
  std::error_code error;
  const fs::space_info space = fs::space(".", error);
  if (error) return {kWarn, "this folder's disk: " + error.message(), "run hone elsewhere"};
  const std::string what = fmt::format("{:.1f} GiB are free in this folder", gib(space.available));
  if (space.available >= kLeastDisk) return {kOk, what};
  return {kWarn, what, "a run wants 2 GiB: free some, or set save.dir"};
}

struct Options {
  void fields(auto&) {}
};

int run(const Options&) {
  bool failed = false;
  for (const Finding& finding : examine()) {
    failed |= finding.status == kFail;
    std::fputs(finding_text(finding, has_colour(stdout)).c_str(), stdout);
  }
  return failed ? 1 : 0;
}

}  // namespace

std::vector<Finding> examine() {
  std::vector<Finding> out;
  check_engine(out);
  for (const auto check : {check_cache, check_model, check_simulator, check_memory, check_disk})
    out.push_back(check());
  return out;
}

std::string finding_text(const Finding& finding, bool colour) {
  constexpr const char* kWords[] = {"ok", "warn", "fail"};
  constexpr const char* kColours[] = {"\x1b[32m", "\x1b[33m", "\x1b[31m"};
  const std::string word = fmt::format("{:<5}", kWords[finding.status]);
  const std::string shown = colour ? kColours[finding.status] + word + "\x1b[0m" : word;
  const std::string advice =
      finding.advice.empty() ? "" : fmt::format("      {}\n", finding.advice);
  return fmt::format("{} {}\n{}", shown, finding.what, advice);
}

bool on_path(const std::string& program) {
  const char* path = std::getenv("PATH");
  std::string folders = path == nullptr ? "" : path;
  while (!folders.empty()) {
    const std::string folder = folders.substr(0, folders.find(':'));
    folders.erase(0, folder.size() + 1);
    if (!folder.empty() && access((folder + "/" + program).c_str(), X_OK) == 0) return true;
  }
  return false;
}

extern const Command kDoctor =
    command<run>("doctor", "check that this machine has what hone needs", {"hone doctor"});

}  // namespace hone::cli
