// The device a run uses: the plugin's client, the cache of compiled programs, our kernels.
#pragma once

#include "ir/emit.h"
#include "pjrt/client.h"
#include "pjrt/executable_cache.h"

namespace hone::engine {

class Device {
 public:
  // Loads the plugin that pjrt::find_plugin() names and registers the kernels it can run.
  // Throws FileError or pjrt::Error.
  static Device open();

  const pjrt::Client& client() const { return client_; }
  const pjrt::ExecutableCache& cache() const { return cache_; }
  // Kernels that really run here; programs use the compositions of all others.
  const std::set<std::string, std::less<>>& kernels() const { return kernels_; }

 private:
  explicit Device(pjrt::Client client) : client_(std::move(client)) {}
  pjrt::Client client_;
  pjrt::ExecutableCache cache_;
  std::set<std::string, std::less<>> kernels_;
};

}  // namespace hone::engine
