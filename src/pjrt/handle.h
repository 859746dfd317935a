// Owning, move-only C++ handles over the objects of the PJRT C API.
//
// Lifetime rule: every handle keeps its parent alive (buffers, executables and events hold the
// client, the client holds the plugin), so the order of destruction never matters.
#pragma once

#include <atomic>
#include <memory>
#include <utility>

#include "pjrt/plugin.h"

namespace hone::pjrt {

// A unique_ptr for one PJRT object: `Destroy` is the entry point that frees it, `Field` the member
// of its arguments that names it.
template <class T, class Args, PJRT_Error* (*PJRT_Api::*Destroy)(Args*), T* Args::* Field,
          class Parent>
class Handle {
 public:
  Handle() = default;
  Handle(std::shared_ptr<const Parent> parent, T* raw) : parent_(std::move(parent)), raw_(raw) {
    count() += raw_ != nullptr;
  }
  Handle(Handle&& from) noexcept
      : parent_(std::move(from.parent_)), raw_(std::exchange(from.raw_, nullptr)) {}
  Handle& operator=(Handle&& from) noexcept {
    if (this != &from) {
      reset();
      parent_ = std::move(from.parent_);
      raw_ = std::exchange(from.raw_, nullptr);
    }
    return *this;
  }
  ~Handle() { reset(); }

  void reset() noexcept {
    if (raw_ == nullptr) return;
    Args args{};
    args.struct_size = sizeof(Args);
    args.*Field = std::exchange(raw_, nullptr);
    const Plugin& door = parent_->plugin();
    if (door.has(Destroy)) door.discard((door.api()->*Destroy)(&args));
    --count();
    parent_.reset();
  }

  T* get() const { return raw_; }
  explicit operator bool() const { return raw_ != nullptr; }
  const std::shared_ptr<const Parent>& parent() const { return parent_; }
  const Plugin& plugin() const { return parent_->plugin(); }
  static int live() { return count(); }  // for leak checks

 private:
  static std::atomic<int>& count() {
    static std::atomic<int> live = 0;
    return live;
  }

  std::shared_ptr<const Parent> parent_;
  T* raw_ = nullptr;
};

using ClientHandle = Handle<PJRT_Client, PJRT_Client_Destroy_Args, &PJRT_Api::PJRT_Client_Destroy,
                            &PJRT_Client_Destroy_Args::client, Plugin>;
using BufferHandle = Handle<PJRT_Buffer, PJRT_Buffer_Destroy_Args, &PJRT_Api::PJRT_Buffer_Destroy,
                            &PJRT_Buffer_Destroy_Args::buffer, ClientHandle>;
using EventHandle = Handle<PJRT_Event, PJRT_Event_Destroy_Args, &PJRT_Api::PJRT_Event_Destroy,
                           &PJRT_Event_Destroy_Args::event, ClientHandle>;
using ExecutableHandle =
    Handle<PJRT_Executable, PJRT_Executable_Destroy_Args, &PJRT_Api::PJRT_Executable_Destroy,
           &PJRT_Executable_Destroy_Args::executable, ClientHandle>;
using LoadedExecutableHandle =
    Handle<PJRT_LoadedExecutable, PJRT_LoadedExecutable_Destroy_Args,
           &PJRT_Api::PJRT_LoadedExecutable_Destroy,
           &PJRT_LoadedExecutable_Destroy_Args::executable, ClientHandle>;

// Live handles of every kind: 0 when all owners are gone.
inline int live_handles() {
  return ClientHandle::live() + BufferHandle::live() + EventHandle::live() +
         ExecutableHandle::live() + LoadedExecutableHandle::live();
}

// Blocks until the event is ready; throws the Error it carries.
void await(const EventHandle& event, std::string_view what);

}  // namespace hone::pjrt
