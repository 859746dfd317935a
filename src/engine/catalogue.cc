#include <fmt/ranges.h>

#include "base/error.h"
#include "base/find_above.h"
#include "base/yaml.h"
#include "engine/model_files.h"

namespace hone::engine {

std::filesystem::path find_model(const std::string& model) {
  if (std::filesystem::exists(model)) return model;
  const auto file = find_above("models.yaml");
  std::vector<std::string> known;
  if (file) {
    const Yaml catalogue = read_yaml(*file);
    if (const Yaml* entry = catalogue.find(model)) {
      const std::filesystem::path path = file->parent_path() / entry->text;
      if (!std::filesystem::exists(path))
        throw FileError("model {} should be at {}, where nothing is; run ./hone to fetch it", model,
                        path.string());
      return path;
    }
    known = catalogue.keys;
  }
  throw ConfigError(
      "no model \"{}\": neither a folder, nor a .gguf file, nor a name of models.yaml "
      "({})",
      model, fmt::join(known, ", "));
}

}  // namespace hone::engine
