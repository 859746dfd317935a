#include "engine/logits.h"

#include "engine/forward.h"
#include "engine/program.h"
#include "ops/ops.h"

namespace hone::engine {

std::vector<float> logits(const Model& model, std::span<const int32_t> tokens) {
  const ModelShape& shape = model.files.shape();
  if (tokens.empty()) throw ConfigError("there are no tokens");
  for (int32_t t : tokens)
    if (t < 0 || t >= shape.vocab)
      throw ConfigError("token {} is outside the model's vocabulary of {}", t, shape.vocab);

  Graph g;
  const Dims dims{1, static_cast<int64_t>(tokens.size())};
  const Value ids = g.parameter("tokens", {DType::kS32, dims});
  nn::Params params{.graph = g, .tuning = model.tuning};
  const Decoder decoder = model.build(params);
  const Value positions = iota(g, dims, 1, DType::kS32);
  const Value x = sequence_states(decoder, ids, positions, constant_like(positions, 1));
  const Value out = convert(decoder.head(reshape(x, {dims[1], x.dim(2)})), DType::kF32);

  const Program program(model.device, g, {{out}});
  const pjrt::Buffer input = model.device.client().to_device<int32_t>(dims, tokens);
  const auto outs = program.run([&](const std::string& name) -> pjrt::Arg {
    if (name == "tokens") return input;
    return model.weight(name);
  });
  return pjrt::to_host<float>(outs[0]);
}

}  // namespace hone::engine
