#include "engine/device.h"

#include <malloc.h>

#include <limits>

#include "kernels/kernels.h"
#include "pjrt/custom_calls.h"

namespace hone::engine {

namespace {

// XLA's CPU engine allocates a program's temporaries anew at every run. Kept in the heap instead of
// given back to the system, they are not zeroed page by page each time.
void keep_freed_memory() {
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
}

}  // namespace

Device Device::open() {
  keep_freed_memory();
  Device d(pjrt::Client::create(pjrt::Plugin::load(pjrt::find_plugin())));
  if (!pjrt::supports_custom_calls(d.client_)) return d;
  for (const kernels::Kernel& k : kernels::kernels()) {
    pjrt::register_custom_call(d.client_.plugin(), std::string(k.name), k.handler);
    d.kernels_.emplace(k.name);
  }
  return d;
}

}  // namespace hone::engine
