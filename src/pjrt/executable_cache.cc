#include "pjrt/executable_cache.h"

#include <fmt/format.h>

#include <cstdlib>
#include <expected>
#include <optional>

#include "base/sha256.h"
#include "base/stopwatch.h"
#include "pjrt/cache_folder.h"
#include "pjrt/cache_key.h"

namespace hone::pjrt {
namespace {

// An entry is this line, the digest of key and program, a line end, and the program.
constexpr std::string_view kMagic = "hone executable 1\n";

std::string seal(std::string_view key, std::string_view program) {
  return Sha256().add(key).add(program).hex() + "\n";
}

std::optional<std::string_view> unseal(std::string_view key, std::string_view entry) {
  constexpr size_t kSealSize = 65;
  if (!entry.starts_with(kMagic) || entry.size() < kMagic.size() + kSealSize) return std::nullopt;
  const std::string_view program = entry.substr(kMagic.size() + kSealSize);
  if (entry.substr(kMagic.size(), kSealSize) != seal(key, program)) return std::nullopt;
  return program;
}

struct Place {
  CacheFolder folder;
  std::string key;
};

// Where the program is or will be; else the reason why it cannot be cached.
std::expected<Place, std::string> place(const std::filesystem::path& cache, const Client& client,
                                        std::string_view stablehlo, const CompileOptions& options) {
  if (cache.empty()) return std::unexpected("HONE_CACHE, XDG_CACHE_HOME and HOME are not set");
  auto root = CacheFolder::open(cache);
  if (!root) return std::unexpected(root.error());
  auto plugins = root->sub("plugins");
  if (!plugins) return std::unexpected(plugins.error());
  auto executables = root->sub("executables");
  if (!executables) return std::unexpected(executables.error());
  try {
    return Place{std::move(*executables),
                 cache_key(client, stablehlo, serialize(options), *plugins)};
  } catch (const FileError& e) {  // the plugin is not a file that can be read
    return std::unexpected(e.what());
  }
}

std::optional<Executable> load(const Client& client, const Place& from) {
  const std::optional<std::string> entry = from.folder.read(from.key);
  const std::optional<std::string_view> program = entry ? unseal(from.key, *entry) : std::nullopt;
  if (!program) return std::nullopt;
  try {
    return client.deserialize(*program);
  } catch (const Error&) {  // stale in a way the key does not know
    return std::nullopt;
  }
}

// Gives the reason when the program could not be stored, else "".
std::string store(const Executable& executable, const Place& to) {
  try {
    const std::string program = executable.serialize();
    return to.folder.write(to.key, fmt::format("{}{}{}", kMagic, seal(to.key, program), program));
  } catch (const Error& e) {
    return e.what();
  }
}

}  // namespace

std::filesystem::path ExecutableCache::default_folder() {
  const auto set = [](const char* name) -> std::filesystem::path {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
  };
  if (const auto ours = set("HONE_CACHE"); !ours.empty()) return ours;
  if (const auto xdg = set("XDG_CACHE_HOME"); !xdg.empty()) return xdg / "hone";
  if (const auto home = set("HOME"); !home.empty()) return home / ".cache" / "hone";
  return {};
}

std::string ExecutableCache::problem() const {
  if (folder_.empty()) return "no folder is set";
  const auto opened = CacheFolder::open(folder_);
  return opened ? "" : opened.error();
}

Compiled ExecutableCache::compile(const Client& client, std::string_view stablehlo,
                                  const CompileOptions& options) const {
  const Stopwatch clock;
  const auto done = [&](Executable executable, bool from_cache, const std::string& note) {
    return Compiled{std::move(executable), from_cache, clock.seconds(), note};
  };
  const std::expected<Place, std::string> at = place(folder_, client, stablehlo, options);
  if (!at)
    return done(client.compile(stablehlo, options), false, "no compile cache: " + at.error());
  if (std::optional<Executable> known = load(client, *at)) return done(std::move(*known), true, "");
  Executable made = client.compile(stablehlo, options);
  const std::string reason = store(made, *at);
  return done(std::move(made), false, reason.empty() ? "" : "not cached: " + reason);
}

}  // namespace hone::pjrt
