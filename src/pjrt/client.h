// A Client is a plugin's set of devices: it compiles modules and moves tensors to a device.
//
//   Client client = Client::create(Plugin::load(find_plugin()));
//   Executable add = client.compile(stablehlo_text);
//   Buffer x = client.to_device<float>({2, 3}, values);
//   std::vector<float> y = to_host<float>(add.execute({x, x})[0]);
//
// A Client is a cheap reference: copies share one client, which lives until the last of them and
// of its buffers and executables is gone. All calls may be made from several threads at once.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pjrt/compile_options.h"
#include "pjrt/executable.h"

namespace hone::pjrt {

struct ClientOptions {
  int cpu_device_count = 1;  // virtual devices of a CPU plugin; 0 for plugins of other platforms
};

struct Device {
  int id = 0;
  std::string kind;  // "cpu", "TPU v5 lite"
};

// Host memory that a device can read in place, see Client::share_with_device.
struct HostMemory {
  std::shared_ptr<void> owner;
  std::span<std::byte> bytes;
};
inline constexpr size_t kHostAlignment = 64;
// Uninitialised, aligned to kHostAlignment.
HostMemory allocate_host(size_t bytes);

class Client {
 public:
  static Client create(std::shared_ptr<const Plugin> plugin, const ClientOptions& options = {});

  const std::string& platform() const;          // "cpu", "tpu", "cuda"
  const std::string& platform_version() const;  // free text of the plugin
  std::span<const Device> devices() const;      // those of this process
  const Plugin& plugin() const;

  // Compiles StableHLO text. Throws Error with the first line of the plugin's reason.
  Executable compile(std::string_view stablehlo, const CompileOptions& options = {}) const;
  // What Executable::serialize gave. Throws Error when the plugin does not take it.
  Executable deserialize(std::string_view bytes) const;

  // Copies row-major data to devices()[device]; the data may go when this returns.
  // Throws ShapeError unless data has exactly type.bytes().
  Buffer to_device(const Type& type, std::span<const std::byte> data, int device = 0) const;
  template <class T>
  Buffer to_device(Dims dims, std::span<const T> data, int device = 0) const;

  // The same without a copy, where the device is a CPU and data is aligned to kHostAlignment (it is
  // copied elsewhere). `owner` is kept until the device no longer reads the data, and let go on a
  // thread of the plugin; the data must not change before that. Nothing updates it in place: a
  // module that wants to gets a copy.
  Buffer share_with_device(const Type& type, std::span<const std::byte> data,
                           std::shared_ptr<const void> owner, int device = 0) const;

 private:
  struct State;
  explicit Client(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<const ClientHandle> handle() const;
  std::pair<Buffer, EventHandle> from_host(const Type& type, std::span<const std::byte> data,
                                           PJRT_HostBufferSemantics semantics, int device) const;

  std::shared_ptr<State> state_;
};

// The element type that a C++ type stands for: f16, bf16 and i1 have none (see to_device(Type)).
template <class T>
constexpr DType dtype_of() {
  for (const DType t : {DType::kF32, DType::kF64, DType::kS8, DType::kU8, DType::kS32, DType::kU32,
                        DType::kS64, DType::kU64})
    if (holds<T>(t)) return t;
  throw "no DType for this C++ type";  // not a constant expression: does not compile
}

template <class T>
Buffer Client::to_device(Dims dims, std::span<const T> data, int device) const {
  constexpr DType kType = dtype_of<T>();
  return to_device(Type{kType, std::move(dims)}, std::as_bytes(data), device);
}

}  // namespace hone::pjrt
