#include "pjrt/plugin.h"

#include <dlfcn.h>
#include <stdlib.h>

#include <string>
#include <system_error>

#include "pjrt/handle.h"
#include "pjrt/types.h"

namespace hone::pjrt {
namespace {

constexpr int kOldestMinor = 57;  // below it PJRT_Api has its fields in another order

// The reason without the stack traces and source notes that plugins append.
std::string first_line(std::string_view text) {
  return std::string(text.substr(0, text.find('\n')));
}

}  // namespace

std::shared_ptr<const Plugin> Plugin::load(const std::filesystem::path& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored))
    throw FileError(
        "PJRT plugin {} does not exist; run ./hone to set up, or correct HONE_PJRT_PLUGIN",
        path.string());
  // Plugins report on stderr what they also return; that belongs to us. The user may ask for it.
  setenv("TF_CPP_MIN_LOG_LEVEL", "3", /*overwrite=*/0);
  // dlopen searches the system's folders for a name without a slash.
  void* library = dlopen(std::filesystem::absolute(path).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    throw FileError("{} cannot be loaded as a PJRT plugin: {}", path.string(),
                    first_line(dlerror()));
  const auto get_api = reinterpret_cast<const PJRT_Api* (*)()>(dlsym(library, "GetPjrtApi"));
  if (get_api == nullptr)
    throw FileError("{} is a shared library but no PJRT plugin: it has no GetPjrtApi",
                    path.string());
  return adopt(get_api(), path);
}

std::shared_ptr<const Plugin> Plugin::adopt(const PJRT_Api* api,
                                            const std::filesystem::path& path) {
  if (api == nullptr) throw FileError("PJRT plugin {} gives no API table", path.string());
  std::shared_ptr<const Plugin> plugin(new Plugin(api, path));
  const auto [major, minor] = plugin->version();
  if (major != PJRT_API_MAJOR || minor < kOldestMinor)
    throw FileError("PJRT plugin {} speaks C API {}.{}; this program needs {}.{} or newer",
                    path.string(), major, minor, PJRT_API_MAJOR, kOldestMinor);
  PJRT_Plugin_Initialize_Args args{};
  plugin->call(&PJRT_Api::PJRT_Plugin_Initialize, args, "initialise " + path.string());
  return plugin;
}

void Plugin::require(bool present, std::string_view what) {
  if (!present) throw Error(Code::kUnimplemented, "{}: this plugin cannot do it", what);
}

void Plugin::check(PJRT_Error* error, std::string_view what) const {
  if (error == nullptr) return;
  PJRT_Error_GetCode_Args code{};
  code.struct_size = sizeof code;
  code.error = error;
  discard(api_->PJRT_Error_GetCode(&code));
  PJRT_Error_Message_Args message{};
  message.struct_size = sizeof message;
  message.error = error;
  api_->PJRT_Error_Message(&message);
  const std::string reason = first_line({message.message, message.message_size});
  discard(error);
  throw Error(static_cast<Code>(number_of(code.code)), "{}: {}", what, reason);
}

void Plugin::discard(PJRT_Error* error) const noexcept {
  if (error == nullptr) return;
  PJRT_Error_Destroy_Args args{};
  args.struct_size = sizeof args;
  args.error = error;
  api_->PJRT_Error_Destroy(&args);
}

const PJRT_Extension_Base* Plugin::extension(PJRT_Extension_Type type) const {
  const PJRT_Extension_Base* e = api_->extension_start;
  while (e != nullptr && number_of(e->type) != type) e = e->next;
  return e;
}

void await(const EventHandle& event, std::string_view what) {
  PJRT_Event_Await_Args args{};
  args.event = event.get();
  event.plugin().call(&PJRT_Api::PJRT_Event_Await, args, what);
}

}  // namespace hone::pjrt
