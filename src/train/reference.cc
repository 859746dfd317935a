#include "train/reference.h"

namespace hone::train {
namespace {

engine::Buffers copies(const engine::Model& model) {
  engine::Buffers all;
  for (const auto& [name, buffer] : model.trained) all[name] = engine::copied(model.device, buffer);
  return all;
}

}  // namespace

Reference::Reference(const engine::Model& model, const Recipe& recipe, const StepShape& shape)
    : shape_(shape), trained_(copies(model)), step_(model, recipe, shape) {}

std::vector<float> Reference::of(StepBatch micro_batch) const {
  micro_batch.reference.assign(static_cast<size_t>(shape_.samples), 0.0F);  // of no effect here
  return step_.run(micro_batch, trained_).sample_sums;
}

}  // namespace hone::train
