// The name of a compiled program: the digest of everything its machine code depends on.
#pragma once

#include <string>
#include <string_view>

#include "pjrt/cache_folder.h"
#include "pjrt/client.h"

namespace hone::pjrt {

// SHA-256, in hexadecimal, of: the module's text, the bytes of the compile options, the plugin
// (cache_key.cc: plugin_digest), the platform and its version, the CPU's model and features, how
// many CPUs this process may use, and XLA_FLAGS. `memory` is where the plugin's digest is kept.
std::string cache_key(const Client& client, std::string_view stablehlo, std::string_view options,
                      const CacheFolder& memory);

}  // namespace hone::pjrt
