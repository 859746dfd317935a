#include "pjrt/custom_calls.h"

#include <array>
#include <map>
#include <mutex>
#include <utility>

#include "xla/ffi/api/ffi.h"

namespace hone::pjrt {
namespace {

// xla/pjrt/c/pjrt_c_api_ffi_extension.h, which no package ships.
struct RegisterArgs {
  size_t struct_size;
  const char* target_name;
  size_t target_name_size;
  void* handler;
  const char* platform_name;
  size_t platform_name_size;
  uint32_t traits;
};
struct FfiExtension {
  PJRT_Extension_Base base;
  void* type_register;
  void* user_data_add;
  PJRT_Error* (*register_handler)(RegisterArgs*);
};

void register_with(const Plugin& plugin, const std::string& name, CustomCall handler) {
  const auto* ffi =
      reinterpret_cast<const FfiExtension*>(plugin.extension(PJRT_Extension_Type_FFI));
  if (ffi == nullptr || ffi->base.struct_size < sizeof(FfiExtension) ||
      ffi->register_handler == nullptr)
    throw Error(Code::kUnimplemented, "register {}: {} takes no custom calls", name,
                plugin.path().string());
  constexpr std::string_view kPlatform = "Host";
  RegisterArgs args{.struct_size = sizeof(RegisterArgs),
                    .target_name = name.data(),
                    .target_name_size = name.size(),
                    .handler = reinterpret_cast<void*>(handler),
                    .platform_name = kPlatform.data(),
                    .platform_name_size = kPlatform.size(),
                    .traits = 0};
  plugin.check(ffi->register_handler(&args), "register " + name);
}

namespace ffi = xla::ffi;

XLA_FFI_Error* probe_handler(XLA_FFI_CallFrame* frame) {
  static const auto kBound =
      ffi::Ffi::Bind().Arg<ffi::Buffer<ffi::F32>>().Ret<ffi::Buffer<ffi::F32>>().To(
          [](ffi::Buffer<ffi::F32> x, ffi::ResultBuffer<ffi::F32> y) {
            y->typed_data()[0] = x.typed_data()[0] + 1.0F;
            return ffi::Error::Success();
          });
  return kBound->Call(frame);
}

bool probe(const Client& client) {
  constexpr std::string_view kModule = R"(
    module @custom_call_probe {
      func.func public @main(%x: tensor<1xf32>) -> tensor<1xf32> {
        %0 = stablehlo.custom_call @hone_probe(%x) {api_version = 4 : i32}
            : (tensor<1xf32>) -> tensor<1xf32>
        return %0 : tensor<1xf32>
      }
    })";
  try {
    register_custom_call(client.plugin(), "hone_probe", probe_handler);
    const Buffer x = client.to_device<float>({1}, std::array{41.0F});
    return to_host<float>(client.compile(kModule).execute({x})[0])[0] == 42.0F;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

void register_custom_call(const Plugin& plugin, const std::string& name, CustomCall handler) {
  // A plugin keeps handlers for the life of the process, whatever happens to our objects.
  static std::mutex mutex;
  static std::map<std::pair<const PJRT_Api*, std::string>, CustomCall> handlers;
  const std::lock_guard lock(mutex);
  const auto [at, added] = handlers.try_emplace({plugin.api(), name}, handler);
  if (!added && at->second == handler) return;
  if (!added) throw Error(Code::kAlreadyExists, "register {}: another handler has this name", name);
  try {
    register_with(plugin, name, handler);
  } catch (...) {
    handlers.erase(at);
    throw;
  }
}

bool supports_custom_calls(const Client& client) {
  static std::mutex mutex;
  static std::map<const PJRT_Api*, bool> answers;
  const std::lock_guard lock(mutex);
  const PJRT_Api* api = client.plugin().api();
  if (const auto known = answers.find(api); known != answers.end()) return known->second;
  return answers[api] = probe(client);
}

}  // namespace hone::pjrt
