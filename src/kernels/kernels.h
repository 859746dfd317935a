// Our own CPU kernels, as custom calls of compiled programs (xla/ffi/api/c_api.h).
//
// Each does what a composition of plain operations does, only faster; a program may use one where
// the plugin takes custom calls and the kernel was registered:
//   for (const Kernel& k : kernels()) pjrt::register_custom_call(plugin, k.name, k.handler);
#pragma once

#include <span>

struct XLA_FFI_Error;
struct XLA_FFI_CallFrame;  // NOLINT(readability-identifier-naming): XLA names it

namespace hone::kernels {

struct Kernel {
  const char* name;  // hone_<name of its file>
  XLA_FFI_Error* (*handler)(XLA_FFI_CallFrame*);
};

// Every kernel, one a file named <name>_ffi.cc.
std::span<const Kernel> kernels();

}  // namespace hone::kernels
