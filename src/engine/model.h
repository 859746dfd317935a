// A model ready to run: its files, its weights on the device, and an adapter when there is one.
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

  Declarations(const ModelFiles& files, const std::optional<nn::Lora>& lora);
};

struct Model {
  Device device;
  ModelFiles files;
  std::optional<nn::Lora> lora;
  Buffers weights, adapter;

  // MODEL as find_model() takes it; `adapter` is a PEFT folder. Throws FileError, ConfigError.
  static Model open(const std::string& model, const std::optional<std::string>& adapter);
  // With a new adapter of this kind. Throws ConfigError when the targets match no layer, or one of
  // them none.
  static Model open(const std::string& model, const nn::Lora& lora, uint64_t seed);
};

}  // namespace hone::engine
