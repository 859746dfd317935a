#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "models/family.h"

namespace hone {

extern const Family kGemma2, kGemma3, kGemma3Text, kGemma4, kGemma4Text, kGemma4Unified,
    kGemma4UnifiedText, kLlama, kMistral, kMixtral, kQwen2, kQwen3, kQwen3Moe;

// An explicit list: grep finds it, the linker cannot drop it, a test holds it against the folder.
std::span<const Family* const> families() {
  static const Family* const all[] = {
      &kLlama,         &kMistral, &kMixtral,    &kQwen2,      &kQwen3,  &kQwen3Moe,
      &kGemma2,        &kGemma3,  &kGemma3Text, &kGemma4Text, &kGemma4, &kGemma4UnifiedText,
      &kGemma4Unified,
  };
  return all;
}

namespace {

const Family& find(std::string_view what, std::string_view wanted,
                   std::string_view (*key)(const Family&)) {
  std::vector<std::string_view> known;
  for (const Family* f : families()) {
    if (key(*f).empty()) continue;
    if (key(*f) == wanted) return *f;
    known.push_back(key(*f));
  }
  throw ConfigError("{} \"{}\" is no model family that hone has; it has: {}", what, wanted,
                    fmt::join(known, ", "));
}

}  // namespace

const Family& family_of(std::string_view model_type) {
  return find("model_type", model_type, [](const Family& f) { return f.model_type; });
}

const Family& family_of_gguf(std::string_view architecture,
                             const std::function<int64_t(std::string_view key)>& count) {
  for (const Family* f : families())
    if (f->gguf.architecture == architecture && !f->gguf.with.empty() && count(f->gguf.with) > 0)
      return *f;
  return find("general.architecture", architecture,
              [](const Family& f) { return f.gguf.architecture; });
}

Architecture read_architecture(const Family& family, const std::string& file,
                               const nlohmann::json& config) {
  ConfigReader reader(file, config);
  Architecture a = family.read(reader.ignore("model_type", "it chose the family"));
  reader.done();
  return a;
}

}  // namespace hone
