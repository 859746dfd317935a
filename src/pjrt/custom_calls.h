// Custom calls: our own kernels inside a compiled program, through XLA's FFI
// (xla/ffi/api/c_api.h). A module names one as
//   stablehlo.custom_call @name(...) {api_version = 4 : i32, backend_config = {...}}
#pragma once

#include <string>

#include "pjrt/client.h"

struct XLA_FFI_Error;
struct XLA_FFI_CallFrame;  // NOLINT(readability-identifier-naming): XLA names it

namespace hone::pjrt {

using CustomCall = XLA_FFI_Error* (*)(XLA_FFI_CallFrame*);

// Makes `handler` known to the plugin for programs on a CPU, for the rest of the process. The same
// name with the same handler again does nothing. Throws Error when the plugin has no FFI extension,
// or the name is taken by another handler. Whether it then runs: supports_custom_calls.
void register_custom_call(const Plugin& plugin, const std::string& name, CustomCall handler);

// True when a registered handler really runs: some plugins register handlers and then do not find
// them. Compiles and runs a module of one element, once a plugin.
bool supports_custom_calls(const Client& client);

}  // namespace hone::pjrt
