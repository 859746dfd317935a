#include "engine/weights.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>

#include "base/check.h"

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
  for (const auto* list : {&params.frozen, &params.trained})
    for (const nn::Weight& w : *list) names.push_back(w.name);
  files.check_all_used(names);

  Buffers buffers;
  std::mutex lock;
  std::exception_ptr failed;
  std::atomic<size_t> next = 0;
  auto work = [&] {
    for (size_t i = next++; i < params.frozen.size(); i = next++) try {
        pjrt::Buffer b = load(device, files, params.frozen[i]);
        const std::lock_guard hold(lock);
        buffers.emplace(params.frozen[i].name, std::move(b));
      } catch (...) {
        const std::lock_guard hold(lock);
        failed = std::current_exception();
        next = params.frozen.size();
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

pjrt::Buffer filled(const Device& device, const Type& type, double value) {
  auto of = [&]<class T>(T element) {
    const std::vector<T> values(static_cast<size_t>(type.size()), element);
    return device.client().to_device(type, std::as_bytes(std::span(values)));
  };
  if (type.dtype == DType::kF32) return of(static_cast<float>(value));
  check(type.bytes() == static_cast<size_t>(type.size()), "filled() of {}", type.str());
  return of(static_cast<int8_t>(static_cast<int>(value)));
}

pjrt::Buffer copied(const Device& device, const pjrt::Buffer& from) {
  std::vector<std::byte> bytes(from.type().bytes());
  from.to_host(bytes);
  return device.client().to_device(from.type(), bytes);
}

}  // namespace hone::engine
