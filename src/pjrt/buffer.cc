#include "pjrt/buffer.h"

#include <numeric>

namespace hone::pjrt {

void Buffer::require_contents(std::string_view what) const {
  if (empty())
    throw Error(Code::kFailedPrecondition, "{}: the buffer is empty (moved, or given away)", what);
}

void Buffer::await() const {
  require_contents("wait for a buffer");
  PJRT_Buffer_ReadyEvent_Args args{};
  args.buffer = handle_.get();
  handle_.plugin().call(&PJRT_Api::PJRT_Buffer_ReadyEvent, args, "wait for a buffer");
  pjrt::await(EventHandle(handle_.parent(), args.event), "execute");
}

void Buffer::to_host(std::span<std::byte> out) const {
  require_contents("copy to the host");
  if (out.size() != type_.bytes())
    throw ShapeError("to_host: {} has {} bytes, room for {} given", type_.str(), type_.bytes(),
                     out.size());
  if (out.empty()) return await();  // a null destination would ask for the size instead
  // A device may keep another order of axes: ask for row-major, most minor axis first.
  std::vector<int64_t> minor_to_major(type_.dims.size());
  std::iota(minor_to_major.rbegin(), minor_to_major.rend(), 0);
  PJRT_Buffer_MemoryLayout layout{};
  layout.struct_size = sizeof layout;
  layout.type = PJRT_Buffer_MemoryLayout_Type_Tiled;
  layout.tiled.struct_size = sizeof layout.tiled;
  layout.tiled.minor_to_major = minor_to_major.data();
  layout.tiled.minor_to_major_size = minor_to_major.size();

  PJRT_Buffer_ToHostBuffer_Args args{};
  args.src = handle_.get();
  args.host_layout = &layout;
  args.dst = out.data();
  args.dst_size = out.size();
  handle_.plugin().call(&PJRT_Api::PJRT_Buffer_ToHostBuffer, args, "copy to the host");
  pjrt::await(EventHandle(handle_.parent(), args.event), "execute");
}

uintptr_t Buffer::address() const {
  require_contents("address of a buffer");
  PJRT_Buffer_UnsafePointer_Args args{};
  args.buffer = handle_.get();
  handle_.plugin().call(&PJRT_Api::PJRT_Buffer_UnsafePointer, args, "address of a buffer");
  return args.buffer_pointer;
}

}  // namespace hone::pjrt
