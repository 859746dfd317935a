#include "train/step_batch.h"

#include "ops/ops.h"

namespace hone::train {

BatchInputs::BatchInputs(Graph& g, const StepShape& s) {
  const Dims tokens_dims{s.micro_batches, s.sequences, s.seq_len};
  const Dims rows_dims{s.micro_batches, s.rows};
  tokens = g.parameter("tokens", {DType::kS32, tokens_dims});
  positions = g.parameter("positions", {DType::kS32, tokens_dims});
  segments = g.parameter("segments", {DType::kS32, tokens_dims});
  rows = g.parameter("rows", {DType::kS32, rows_dims});
  labels = g.parameter("labels", {DType::kS32, rows_dims});
  weights = g.parameter("weights", {DType::kF32, rows_dims});
  if (s.samples == 0) return;
  samples = g.parameter("samples", {DType::kS32, rows_dims});
  reference = g.parameter("reference", {DType::kF32, {s.micro_batches, s.samples}});
}

Values BatchInputs::all() const {
  Values v{tokens, positions, segments, rows, labels, weights};
  if (samples) v.insert(v.end(), {samples, reference});
  return v;
}

BatchInputs BatchInputs::of(const Values& all) {
  BatchInputs b;
  b.tokens = all[0];
  b.positions = all[1];
  b.segments = all[2];
  b.rows = all[3];
  b.labels = all[4];
  b.weights = all[5];
  if (all.size() > 6) b.samples = all[6], b.reference = all[7];
  return b;
}

BatchInputs BatchInputs::first() const {
  Values parts;
  for (const Value& v : all()) {
    const Value one = slice(v, 0, 0, 1);
    parts.push_back(reshape(one, Dims(v.dims().begin() + 1, v.dims().end())));
  }
  return of(parts);
}

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
  if (s.samples == 0) return in;
  in["samples"] = client.to_device<int32_t>(rows, std::span(b.samples));
  in["reference"] = client.to_device<float>({s.micro_batches, s.samples}, std::span(b.reference));
  return in;
}

}  // namespace hone::train
