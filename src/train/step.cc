#include "train/step.h"

#include <cmath>

#include "engine/forward.h"
#include "ir/grad.h"
#include "nn/loss.h"
#include "ops/ops.h"

namespace hone::train {
namespace {

// The parameters that carry a batch, [micro_batches, ...] each.
struct BatchInputs {
  Value tokens, positions, segments, rows, labels, weights;

  BatchInputs(Graph& g, const StepShape& s) {
    const Dims tokens_dims{s.micro_batches, s.sequences, s.seq_len};
    const Dims rows_dims{s.micro_batches, s.rows};
    tokens = g.parameter("tokens", {DType::kS32, tokens_dims});
    positions = g.parameter("positions", {DType::kS32, tokens_dims});
    segments = g.parameter("segments", {DType::kS32, tokens_dims});
    rows = g.parameter("rows", {DType::kS32, rows_dims});
    labels = g.parameter("labels", {DType::kS32, rows_dims});
    weights = g.parameter("weights", {DType::kF32, rows_dims});
  }
  Values all() const { return {tokens, positions, segments, rows, labels, weights}; }
};

// Sum of the losses of one micro-batch's target rows: only those rows meet the head. `in` is in
// the order of BatchInputs::all(), without the first axis.
Value summed_loss(const Decoder& decoder, const Values& in, Remat remat) {
  const Value x = engine::sequence_states(decoder, in[0], in[1], in[2], remat);
  const Value flat = reshape(x, {x.dim(0) * x.dim(1), x.dim(2)});
  const Value logits = convert(decoder.head(take(flat, in[3])), DType::kF32);
  return nn::cross_entropy(logits, in[4], in[5]);
}

Values first_of(const Values& stacks) {
  Values out;
  for (const Value& v : stacks)
    out.push_back(reshape(v, Dims(v.dims().begin() + 1, v.dims().end())));
  return out;
}

// The loss and its gradients summed over the micro-batches.
struct Accumulated {
  Value loss;
  Values gradients;
};
Accumulated accumulate(Graph& g, const Decoder& decoder, const BatchInputs& batch,
                       const Values& adapter, const StepShape& shape) {
  if (shape.micro_batches == 1) {
    const Value loss = summed_loss(decoder, first_of(batch.all()), shape.remat);
    return {loss, grad(loss, adapter)};
  }
  Values init{constant(g, {DType::kF32, {}}, 0.0)};
  for (const Value& a : adapter) init.push_back(zeros_like(a));
  const ScanResult r = scan(g, shape.micro_batches, init, batch.all(),
                            [&](const Values& carry, const Values& x) -> ScanStep {
                              const Value loss = summed_loss(decoder, x, shape.remat);
                              const Values gradients = grad(loss, adapter);
                              ScanStep next{{carry[0] + loss}, {}};
                              for (size_t i = 0; i < gradients.size(); ++i)
                                next.carry.push_back(carry[i + 1] + gradients[i]);
                              return next;
                            });
  return {r.carry[0], Values(r.carry.begin() + 1, r.carry.end())};
}

Value everywhere(Value scalar, Value like) { return broadcast(scalar, like.dims(), {}); }

engine::Buffers upload(const engine::Device& device, const StepShape& s, const StepBatch& b) {
  const pjrt::Client& client = device.client();
  const Dims tokens{s.micro_batches, s.sequences, s.seq_len}, rows{s.micro_batches, s.rows};
  engine::Buffers in;
  in["tokens"] = client.to_device<int32_t>(tokens, std::span(b.tokens));
  in["positions"] = client.to_device<int32_t>(tokens, std::span(b.positions));
  in["segments"] = client.to_device<int32_t>(tokens, std::span(b.segments));
  in["rows"] = client.to_device<int32_t>(rows, std::span(b.rows));
  in["labels"] = client.to_device<int32_t>(rows, std::span(b.labels));
  in["weights"] = client.to_device<float>(rows, std::span(b.weights));
  return in;
}

double scalar(const pjrt::Buffer& b) { return pjrt::to_host<float>(b)[0]; }

}  // namespace

struct TrainStep::Built {
  engine::Program program;
  std::vector<std::string> names;
  engine::Buffers state;
};

TrainStep::Built TrainStep::build(const engine::Device& device, const Family& family,
                                  const nlohmann::json& config, const nn::Lora& lora,
                                  const StepShape& shape, const AdamW& optimizer, double clip) {
  Graph g;
  const BatchInputs batch(g, shape);
  const Value lr = g.parameter("lr", {DType::kF32, {}});
  const Value correction1 = g.parameter("correction1", {DType::kF32, {}});
  const Value correction2 = g.parameter("correction2", {DType::kF32, {}});
  nn::Params params{.graph = g, .lora = lora};
  if (lora.dropout > 0) params.dropout_key = g.parameter("dropout_key", {DType::kU64, {2}});
  const Decoder decoder = family.build(nn::Scope(params), config);

  Values adapter;
  for (const nn::Weight& w : params.adapter) adapter.push_back(w.value);
  Accumulated sums = accumulate(g, decoder, batch, adapter, shape);
  const Value targets = maximum(sum(batch.weights, {0, 1}), constant_like(lr, 1.0));
  Value squares = constant_like(lr, 0.0);
  for (Value& d : sums.gradients) {
    d = d / everywhere(targets, d);
    Dims axes;
    for (int64_t i = 0; i < d.rank(); ++i) axes.push_back(i);
    squares = squares + sum(d * d, axes);
  }
  const Value norm = sqrt(squares);
  const Value factor = clip_factor(norm, clip);
  const Value finite = compare(norm - norm, Compare::kEq, zeros_like(norm));

  Values outs{sums.loss / targets, norm, targets};
  engine::Program::Donated donated;
  engine::Buffers state;
  std::vector<std::string> names;
  for (size_t i = 0; i < adapter.size(); ++i) {
    const Type& t = adapter[i].type();
    const std::string& name = params.adapter[i].name;
    const AdamW::State now{adapter[i], g.parameter("m." + name, t), g.parameter("v." + name, t)};
    const Value d = sums.gradients[i] * everywhere(factor, sums.gradients[i]);
    const AdamW::State next = optimizer(now, d, lr, correction1, correction2);
    const Value keep = everywhere(finite, d);
    for (auto part : {&AdamW::State::parameter, &AdamW::State::m, &AdamW::State::v}) {
      donated.emplace_back(now.*part, static_cast<int>(outs.size()));
      outs.push_back(select(keep, next.*part, now.*part));
    }
    const std::vector<float> zeros(static_cast<size_t>(t.size()), 0.0F);
    for (const char* part : {"m.", "v."})
      state[part + name] = device.client().to_device<float>(t.dims, std::span(zeros));
    names.push_back(name);
  }
  return {engine::Program(device, g, outs, donated), names, std::move(state)};
}

TrainStep::TrainStep(const engine::Device& device, const Family& family,
                     const nlohmann::json& config, const nn::Lora& lora, const StepShape& shape,
                     const AdamW& optimizer, double clip)
    : TrainStep(device, shape, optimizer,
                build(device, family, config, lora, shape, optimizer, clip)) {}

TrainStep::TrainStep(const engine::Device& device, const StepShape& shape, const AdamW& optimizer,
                     Built built)
    : device_(device),
      shape_(shape),
      optimizer_(optimizer),
      program_(std::move(built.program)),
      names_(std::move(built.names)),
      state_(std::move(built.state)) {}

StepResult TrainStep::run(const engine::Buffers& weights, engine::Buffers& adapter,
                          const StepBatch& batch, double lr, int64_t number) {
  engine::Buffers in = upload(device_, shape_, batch);
  const auto [correction1, correction2] = optimizer_.corrections(number);
  auto put = [&](const char* name, double value) {
    const float f = static_cast<float>(value);
    in[name] = device_.client().to_device<float>({}, std::span(&f, 1));
  };
  put("lr", lr);
  put("correction1", correction1);
  put("correction2", correction2);
  const uint64_t key[2] = {shape_.dropout_seed, static_cast<uint64_t>(number) << 32};
  in["dropout_key"] = device_.client().to_device<uint64_t>({2}, std::span(key));

  std::vector<pjrt::Buffer> outs = program_.run([&](const std::string& name) -> pjrt::Arg {
    if (auto it = in.find(name); it != in.end()) return it->second;
    if (auto it = adapter.find(name); it != adapter.end()) return std::move(it->second);
    if (auto it = state_.find(name); it != state_.end()) return std::move(it->second);
    return weights.at(name);
  });
  for (size_t i = 0; i < names_.size(); ++i) {
    adapter[names_[i]] = std::move(outs[3 + 3 * i]);
    state_["m." + names_[i]] = std::move(outs[4 + 3 * i]);
    state_["v." + names_[i]] = std::move(outs[5 + 3 * i]);
  }
  return {scalar(outs[0]), scalar(outs[1]), static_cast<int64_t>(std::lround(scalar(outs[2])))};
}

namespace {

engine::Program build_eval(const engine::Device& device, const Family& family,
                           const nlohmann::json& config, const nn::Lora& lora,
                           const StepShape& shape) {
  Graph g;
  const BatchInputs batch(g, shape);
  nn::Params params{.graph = g, .lora = lora};
  const Decoder decoder = family.build(nn::Scope(params), config);
  const Value loss = summed_loss(decoder, first_of(batch.all()), Remat::kNone);
  return engine::Program(device, g, {{loss, sum(batch.weights, {0, 1})}});
}

}  // namespace

EvalStep::EvalStep(const engine::Device& device, const Family& family, const nlohmann::json& config,
                   const nn::Lora& lora, const StepShape& shape)
    : device_(device), shape_(shape), program_(build_eval(device, family, config, lora, shape)) {}

std::pair<double, int64_t> EvalStep::run(const engine::Buffers& weights,
                                         const engine::Buffers& adapter,
                                         const StepBatch& batch) const {
  const engine::Buffers in = upload(device_, shape_, batch);
  const auto outs = program_.run([&](const std::string& name) -> pjrt::Arg {
    if (auto it = in.find(name); it != in.end()) return it->second;
    if (auto it = adapter.find(name); it != adapter.end()) return it->second;
    return weights.at(name);
  });
  return {scalar(outs[0]), static_cast<int64_t>(std::lround(scalar(outs[1])))};
}

}  // namespace hone::train
