#include "engine/weights.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>

#include "base/check.h"

namespace hone::engine {
namespace {

// One weight's parts, which are found in the file, encoded and given to the device.
std::vector<std::pair<std::string, pjrt::Buffer>> load(const Device& device,
                                                       const ModelFiles& files,
                                                       const nn::FrozenWeight& w) {
  files.check_weight(w.name, w.dims);  // before its size is believed
  std::vector<pjrt::HostMemory> memory;
  std::vector<std::span<std::byte>> parts;
  for (const Value& part : w.parts) {
    memory.push_back(pjrt::allocate_host(part.type().bytes()));
    parts.push_back(memory.back().bytes);
  }
  const auto size = static_cast<size_t>(Type{DType::kF32, w.dims}.size());
  if (w.store == &nn::kStoreF32) {
    files.read(w.name, w.dims, {reinterpret_cast<float*>(parts[0].data()), size});
  } else {
    std::vector<float> values(size);
    files.read(w.name, w.dims, values);
    w.store->encode(values, w.dims, parts);
  }
  std::vector<std::pair<std::string, pjrt::Buffer>> loaded;
  for (size_t i = 0; i < parts.size(); ++i)
    loaded.emplace_back(nn::label(w.parts[i]), device.client().share_with_device(
                                                   w.parts[i].type(), parts[i], memory[i].owner));
  return loaded;
}

// The store that holds a weight as the file does.
const nn::Store& like_the_file(std::string_view stored) {
  if (stored == "BF16") return nn::kStoreBF16;
  if (stored == "F16") return nn::kStoreF16;
  return nn::kStoreF32;
}

}  // namespace

nn::StoreRule store_rule(const std::string& store, const ModelFiles& files) {
  const nn::Store* fixed = nullptr;
  for (const nn::Store* s : nn::stores())
    if (s->name == store) fixed = s;
  check(fixed != nullptr || store == "as-is", "no store {}", store);
  const bool quantised = fixed == &nn::kStoreInt8 || fixed == &nn::kStoreNf4;
  return [=, &files](const std::string& weight, bool matrix) -> const nn::Store& {
    if (fixed != nullptr && (matrix || !quantised)) return *fixed;
    return like_the_file(files.stored(weight));
  };
}

Buffers load_weights(const Device& device, const ModelFiles& files, const nn::Params& params) {
  std::vector<ModelFiles::Declared> declared;
  for (const nn::FrozenWeight& w : params.frozen) declared.emplace_back(w.name, w.dims);
  for (const nn::Weight& w : params.trained) declared.emplace_back(w.name, w.value.dims());
  files.check_all_used(declared);

  Buffers buffers;
  std::mutex lock;
  std::exception_ptr failed;
  std::atomic<size_t> next = 0;
  auto work = [&] {
    for (size_t i = next++; i < params.frozen.size(); i = next++) try {
        auto parts = load(device, files, params.frozen[i]);
        const std::lock_guard hold(lock);
        for (auto& [name, buffer] : parts) buffers.emplace(name, std::move(buffer));
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
