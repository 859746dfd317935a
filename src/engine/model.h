// A model ready to run: its files and its weights on the device, frozen and trained.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "engine/adapter.h"
#include "engine/device.h"
#include "engine/model_files.h"
#include "engine/weights.h"

namespace hone::engine {

// What a family declares for these files, in a graph that only holds the declarations.
struct Declarations {
  std::unique_ptr<Graph> graph;
  nn::Params params;

  Declarations(const ModelFiles& files, const nn::Tuning& tuning, const std::string& store = "f32");
};

struct Model {
  Device device;
  ModelFiles files;
  nn::Tuning tuning;
  Buffers weights;                     // frozen
  Buffers trained;                     // adapters, and weights that are trained whole; f32
  std::string store = "f32";           // of the frozen weights, see store_rule()
  nlohmann::json adapter_config = {};  // of the folder that the adapter is from; null for a new one
  std::vector<std::string> warnings = {};

  // MODEL as find_model() takes it; `adapter` is a PEFT folder. Throws FileError, ConfigError.
  static Model open(const std::string& model, const std::optional<std::string>& adapter,
                    const std::string& store = "f32");
  // To be trained: adapters are new, weights trained whole as they are in the files. Throws
  // ConfigError when a name in `tuning` matches no layer.
  static Model open(const std::string& model, const nn::Tuning& tuning, uint64_t seed,
                    const std::string& store = "f32");

  // Starts again with the same frozen weights and new trained ones; `tuning` differs in its
  // adapters only. Throws ConfigError as open() does.
  void renew(const nn::Tuning& tuning, uint64_t seed);

  const pjrt::Buffer& weight(std::string_view name) const;  // of either kind
  // The family's, for these files and this store.
  Decoder build(nn::Params& params) const;
};

}  // namespace hone::engine
