#include "pjrt/cache_key.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "base/mmap.h"
#include "base/sha256.h"

namespace hone::pjrt {
namespace {

// XLA generates code for the CPU at hand, so a program must not meet another kind.
std::string cpu_features() {
  constexpr std::array kFields{"vendor_id", "cpu family",      "model",    "flags",
                               "Features",  "CPU implementer", "CPU part", "isa"};
  std::ifstream cpuinfo("/proc/cpuinfo");
  std::string features;
  for (std::string line; std::getline(cpuinfo, line) && !line.empty();) {
    const std::string field = line.substr(0, line.find_last_not_of(" \t", line.find(':') - 1) + 1);
    if (std::ranges::find(kFields, field) != kFields.end()) features += line + "\n";
  }
  return features;
}

// SHA-256 of the plugin's file: the path says nothing, and sizes and times of unpacked packages
// repeat. Reading 200 MB takes a while, so it is remembered for as long as the file is untouched.
std::string plugin_digest(const Plugin& plugin, const CacheFolder& memory) {
  struct stat st{};
  stat(plugin.path().c_str(), &st);
  const std::string name = sha256(fmt::format(
      "{}\n{} {} {} {}.{} {}.{}", plugin.path().string(), st.st_dev, st.st_ino, st.st_size,
      st.st_mtim.tv_sec, st.st_mtim.tv_nsec, st.st_ctim.tv_sec, st.st_ctim.tv_nsec));
  const std::optional<std::string> known = memory.read(name);
  if (known && known->size() == name.size()) return *known;
  const Mmap file(plugin.path());
  const auto bytes = file.bytes();
  const std::string digest = sha256({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  memory.write(name, digest);  // next time, if not now
  return digest;
}

}  // namespace

std::string cache_key(const Client& client, std::string_view stablehlo, std::string_view options,
                      const CacheFolder& memory) {
  const char* flags = std::getenv("XLA_FLAGS");
  const std::array<std::string, 6> where{
      plugin_digest(client.plugin(), memory),
      client.platform(),
      client.platform_version(),
      cpu_features(),
      fmt::format("{}", std::thread::hardware_concurrency()),  // XLA splits loops by it
      flags == nullptr ? "" : flags};
  Sha256 key;
  const auto add = [&](std::string_view part) {  // with its length, so that parts cannot blend
    key.add(fmt::format("{}:", part.size())).add(part);
  };
  add(stablehlo);
  add(options);
  for (const std::string& part : where) add(part);
  return key.hex();
}

}  // namespace hone::pjrt
