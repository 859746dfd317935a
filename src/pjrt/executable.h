// An Executable is a compiled module on its devices.
//
//   std::vector<Buffer> out = step.execute({weights, std::move(kv_cache), token});
//
// An argument is lent, and stays as it is, or given away with std::move, and is empty after the
// call (also when it throws). Only what is given away can be updated in place by a module that
// declares `tf.aliasing_output`; a lent argument is copied there instead.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "pjrt/buffer.h"

namespace hone::pjrt {

// One argument of an execution. It refers to the caller's Buffer, which must outlive it.
class Arg {
 public:
  Arg(const Buffer& lent) : buffer_(&lent) {}               // NOLINT: implicit by design
  Arg(Buffer&& given) : buffer_(&given), given_(&given) {}  // NOLINT

 private:
  friend class Executable;
  const Buffer* buffer_;
  Buffer* given_ = nullptr;
};

// Bytes on one device; what the compiler planned, not what was measured.
struct MemoryStats {
  int64_t arguments = 0;
  int64_t outputs = 0;
  int64_t aliased = 0;  // of the arguments, reused as outputs
  int64_t temporaries = 0;
  int64_t code = 0;
};

class Executable {
 public:
  // Takes over a compiled or loaded executable. Throws Error when an output has an element type
  // that DType does not know.
  explicit Executable(LoadedExecutableHandle loaded);

  // Types of the outputs on one device.
  std::span<const Type> outputs() const { return outputs_; }
  // Replicas x partitions: how many lists of arguments execute_on_all takes.
  int num_devices() const { return num_devices_; }

  // Starts a module compiled for one device and returns its outputs at once. Throws Error when the
  // plugin refuses the arguments, or one of them is empty.
  std::vector<Buffer> execute(std::span<const Arg> args) const;
  std::vector<Buffer> execute(std::initializer_list<Arg> args) const {
    return execute(std::span(args.begin(), args.size()));
  }
  // The same on several: args[device][argument] to outputs[device][output].
  std::vector<std::vector<Buffer>> execute_on_all(std::span<const std::vector<Arg>> args) const;

  // What the plugin says of the program; nothing where it cannot.
  std::optional<MemoryStats> memory_stats() const;
  // Name and value, such as "flops" and "bytes accessed". The body of a loop counts once.
  std::vector<std::pair<std::string, double>> cost_analysis() const;

  // Bytes for Client::deserialize, on the same kind of machine and the same plugin only.
  std::string serialize() const;

 private:
  std::vector<std::vector<Buffer>> launch(std::span<const std::span<const Arg>> args) const;
  void run(const std::vector<std::vector<PJRT_Buffer*>>& in,
           std::vector<std::vector<PJRT_Buffer*>>& out, const std::vector<bool>& lent) const;

  LoadedExecutableHandle loaded_;
  ExecutableHandle program_;
  std::vector<Type> outputs_;
  int num_devices_ = 1;
};

}  // namespace hone::pjrt
