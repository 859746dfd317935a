#include "engine/device.h"

#include "kernels/kernels.h"
#include "pjrt/custom_calls.h"

namespace hone::engine {

Device Device::open() {
  Device d(pjrt::Client::create(pjrt::Plugin::load(pjrt::find_plugin())));
  if (!pjrt::supports_custom_calls(d.client_)) return d;
  for (const kernels::Kernel& k : kernels::kernels()) {
    pjrt::register_custom_call(d.client_.plugin(), std::string(k.name), k.handler);
    d.kernels_.emplace(k.name);
  }
  return d;
}

}  // namespace hone::engine
