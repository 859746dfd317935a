// The door to a device: one PJRT plugin, and the one checked call that everything else goes
// through.
//
//   auto plugin = Plugin::load(find_plugin());
//   PJRT_Client_Create_Args args{};
//   plugin->call(&PJRT_Api::PJRT_Client_Create, args, "create a client");
//
// The plugin must speak PJRT C API 0.57 or newer (the fields of PJRT_Api were last reordered
// there); entry points that it is too old to have are refused by name when they are called.
// Contract of the C side: xla/pjrt/c/pjrt_c_api.h.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "pjrt/error.h"
#include "pjrt_c_api.h"

namespace hone::pjrt {

// Where the plugin is: $HONE_PJRT_PLUGIN; else in the nearest folder above this program (then above
// the current folder) that holds `.deps`: the CPU engine, or its fall-back.
// Throws FileError when there is none.
std::filesystem::path find_plugin();
// The same, in the folders above these only.
std::filesystem::path find_plugin(std::span<const std::filesystem::path> starts);

// Never unloaded: plugins start threads that outlive any owner of ours.
class Plugin {
 public:
  struct Version {
    int major = 0;
    int minor = 0;
  };

  // Loads the shared library and initialises it. Throws FileError when it is missing, no plugin or
  // too old; Error when its initialisation fails.
  static std::shared_ptr<const Plugin> load(const std::filesystem::path& path);
  // The same for a plugin whose table is at hand; `path` names it in messages.
  static std::shared_ptr<const Plugin> adopt(const PJRT_Api* api,
                                             const std::filesystem::path& path);

  // Fills args.struct_size and calls; throws Error "what: reason" when the plugin has no such
  // entry point or returns an error.
  template <class Args>
  void call(PJRT_Error* (*PJRT_Api::*entry)(Args*), Args& args, std::string_view what) const {
    require(has(entry), what);
    // sizeof is X_STRUCT_SIZE rounded up to the alignment: the API's own headers assert it.
    args.struct_size = sizeof(Args);
    check((api_->*entry)(&args), what);
  }

  template <class Args>
  bool has(PJRT_Error* (*PJRT_Api::*entry)(Args*)) const {
    const auto offset =
        reinterpret_cast<const char*>(&(api_->*entry)) - reinterpret_cast<const char*>(api_);
    return static_cast<size_t>(offset) + sizeof(void*) <= api_->struct_size &&
           api_->*entry != nullptr;
  }

  // Turns an error of the plugin (or null) into an exception, and frees it.
  void check(PJRT_Error* error, std::string_view what) const;
  // Frees an error that nobody can be told about.
  void discard(PJRT_Error* error) const noexcept;

  // The extension of that type, or null.
  const PJRT_Extension_Base* extension(PJRT_Extension_Type type) const;

  const std::filesystem::path& path() const { return path_; }
  Version version() const {
    return {api_->pjrt_api_version.major_version, api_->pjrt_api_version.minor_version};
  }
  const PJRT_Api* api() const { return api_; }
  const Plugin& plugin() const { return *this; }  // so that a Handle can ask any parent

 private:
  Plugin(const PJRT_Api* api, std::filesystem::path path) : api_(api), path_(std::move(path)) {}
  static void require(bool present, std::string_view what);

  const PJRT_Api* api_;
  std::filesystem::path path_;
};

}  // namespace hone::pjrt
