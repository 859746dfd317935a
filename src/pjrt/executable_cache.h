// Compiled executables on disk, so that a second start does not compile.
//
// An entry is `executables/<key>` under the cache folder; the key is the SHA-256 of everything the
// machine code depends on (see executable_cache.cc). Entries are loaded as machine code, so the
// folder is trusted input: made 0700, and not used when someone else owns it or may write to it.
// A damaged or stale entry is compiled again and replaced. Nothing here stops a run: without a
// usable cache everything is compiled, and `Compiled::note` says why.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "pjrt/client.h"

namespace hone::pjrt {

struct Compiled {
  Executable executable;
  bool from_cache = false;
  double seconds = 0;  // to compile or to load
  std::string note;    // why the cache was not used or written, if so; one line
};

class ExecutableCache {
 public:
  // $HONE_CACHE, else $XDG_CACHE_HOME/hone, else ~/.cache/hone; empty when none of them is set.
  static std::filesystem::path default_folder();

  // An empty folder means no cache.
  explicit ExecutableCache(std::filesystem::path folder = default_folder())
      : folder_(std::move(folder)) {}

  // Why the folder is of no use, or "".
  std::string problem() const;

  // Client::compile through the cache; throws what that throws.
  Compiled compile(const Client& client, std::string_view stablehlo,
                   const CompileOptions& options = {}) const;

 private:
  std::filesystem::path folder_;
};

}  // namespace hone::pjrt
