// A Buffer is a tensor on a device: a move-only owner that knows its Type.
//
// Executions are asynchronous: a Buffer may be handed out before its contents exist. await() and
// to_host() wait for them and throw the pjrt::Error of the execution that failed to make them, if
// execute() itself did not (plugins do little work within the call).
#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <vector>

#include "base/type.h"
#include "pjrt/handle.h"

namespace hone::pjrt {

class Buffer {
 public:
  Buffer() = default;
  Buffer(BufferHandle handle, Type type) : handle_(std::move(handle)), type_(std::move(type)) {}

  // True of a default-made, moved-from or given-away buffer; the calls below then throw Error.
  bool empty() const { return !handle_; }
  const Type& type() const { return type_; }

  // Blocks until the contents are there.
  void await() const;
  // Blocks, then copies the contents out, row-major. Throws ShapeError unless out has exactly
  // type().bytes().
  void to_host(std::span<std::byte> out) const;
  // Where the contents are; on a CPU an address of this process. Valid while the buffer lives.
  uintptr_t address() const;

  const BufferHandle& handle() const { return handle_; }

 private:
  void require_contents(std::string_view what) const;

  BufferHandle handle_;
  Type type_;
};

// True when a vector of T can hold elements of that type: f16 and bf16 travel as uint16_t, i1 as
// uint8_t (0 or 1).
template <class T>
constexpr bool holds(DType t) {
  if constexpr (std::same_as<T, float>) return t == DType::kF32;
  if constexpr (std::same_as<T, double>) return t == DType::kF64;
  if constexpr (std::same_as<T, int8_t>) return t == DType::kS8;
  if constexpr (std::same_as<T, uint8_t>) return t == DType::kU8 || t == DType::kPred;
  if constexpr (std::same_as<T, uint16_t>) return t == DType::kF16 || t == DType::kBF16;
  if constexpr (std::same_as<T, int32_t>) return t == DType::kS32;
  if constexpr (std::same_as<T, uint32_t>) return t == DType::kU32;
  if constexpr (std::same_as<T, int64_t>) return t == DType::kS64;
  if constexpr (std::same_as<T, uint64_t>) return t == DType::kU64;
  return false;
}

// The contents as a vector. Throws ShapeError when T does not hold the buffer's element type.
template <class T>
std::vector<T> to_host(const Buffer& buffer) {
  const Type& type = buffer.type();
  if (!holds<T>(type.dtype))
    throw ShapeError("to_host: a buffer of {} read as another element type", type.str());
  std::vector<T> out(static_cast<size_t>(type.size()));
  buffer.to_host(std::as_writable_bytes(std::span(out)));
  return out;
}

}  // namespace hone::pjrt
