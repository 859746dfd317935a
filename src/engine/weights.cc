#include "engine/weights.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>

namespace hone::engine {
namespace {

pjrt::Buffer load(const Device& device, const ModelFiles& files, const nn::Weight& w) {
  const Type& type = w.value.type();
  files.check_weight(w.name, type.dims);  // before its size is believed
  const pjrt::HostMemory host = pjrt::allocate_host(type.bytes());
  files.read(w.name, type.dims,
             {reinterpret_cast<float*>(host.bytes.data()), static_cast<size_t>(type.size())});
  return device.client().share_with_device(type, host.bytes, host.owner);
}

}  // namespace

Buffers load_weights(const Device& device, const ModelFiles& files, const nn::Params& params) {
  std::vector<std::string> names;
  for (const nn::Weight& w : params.base) names.push_back(w.name);
  files.check_all_used(names);

  Buffers buffers;
  std::mutex lock;
  std::exception_ptr failed;
  std::atomic<size_t> next = 0;
  auto work = [&] {
    for (size_t i = next++; i < params.base.size(); i = next++) try {
        pjrt::Buffer b = load(device, files, params.base[i]);
        const std::lock_guard hold(lock);
        buffers.emplace(params.base[i].name, std::move(b));
      } catch (...) {
        const std::lock_guard hold(lock);
        failed = std::current_exception();
        next = params.base.size();
      }
  };
  {
    std::vector<std::jthread> threads;
    for (unsigned i = 0; i < std::max(2u, std::thread::hardware_concurrency()); ++i)
      threads.emplace_back(work);
  }
  if (failed) std::rethrow_exception(failed);
  return buffers;
}

}  // namespace hone::engine
