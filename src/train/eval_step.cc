#include "train/eval_step.h"

#include "ops/ops.h"
#include "train/forward_loss.h"

namespace hone::train {
namespace {

engine::Program build(const engine::Model& model, const Recipe& recipe, const StepShape& shape) {
  Graph g;
  const BatchInputs batch(g, shape);
  nn::Params params{.graph = g, .tuning = model.tuning};
  const Decoder decoder = model.build(params);
  const Objective::Targets targets = targets_of(decoder, batch.first(), Remat::kNone);
  const Objective::Sums sums = objective_of(recipe.objective.kind).sums(recipe.objective, targets);
  Values outs{sums.loss, sums.count};
  outs.insert(outs.end(), sums.metrics.begin(), sums.metrics.end());
  if (targets.samples) outs.push_back(per_sample(targets.log_probability, targets));
  return engine::Program(model.device, g, outs);
}

}  // namespace

EvalStep::EvalStep(const engine::Model& model, const Recipe& recipe, const StepShape& shape)
    : model_(model),
      shape_(shape),
      metrics_(objective_of(recipe.objective.kind).metrics.size()),
      program_(build(model, recipe, shape)) {}

EvalResult EvalStep::run(const StepBatch& batch, const engine::Buffers& trained) const {
  const engine::Buffers in = upload(model_.device, shape_, batch);
  const auto outs = program_.run([&](const std::string& name) -> pjrt::Arg {
    if (auto it = in.find(name); it != in.end()) return it->second;
    if (auto it = trained.find(name); it != trained.end()) return it->second;
    return model_.weights.at(name);
  });
  auto scalar = [&](size_t i) { return static_cast<double>(pjrt::to_host<float>(outs[i])[0]); };
  EvalResult r{scalar(0), scalar(1), {}, {}};
  for (size_t i = 0; i < metrics_; ++i) r.metrics.push_back(scalar(2 + i));
  if (shape_.samples > 0) r.sample_sums = pjrt::to_host<float>(outs.back());
  return r;
}

}  // namespace hone::train
