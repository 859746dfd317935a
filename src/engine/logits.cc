#include "engine/logits.h"

#include "engine/forward.h"
#include "ops/ops.h"

namespace hone::engine {

std::vector<float> logits(const Device& device, const Family& family, const nlohmann::json& config,
                          const std::optional<nn::Lora>& lora, const Buffers& weights,
                          const Buffers& adapter, std::span<const int32_t> tokens) {
  const ModelShape shape = family.shape(config);
  if (tokens.empty()) throw ConfigError("there are no tokens");
  for (int32_t t : tokens)
    if (t < 0 || t >= shape.vocab)
      throw ConfigError("token {} is outside the model's vocabulary of {}", t, shape.vocab);

  Graph g;
  const Dims dims{1, static_cast<int64_t>(tokens.size())};
  const Value ids = g.parameter("tokens", {DType::kS32, dims});
  nn::Params params{.graph = g, .lora = lora};
  const Decoder decoder = family.build(nn::Scope(params), config);
  const Value positions = iota(g, dims, 1, DType::kS32);
  const Value x = sequence_states(decoder, ids, positions, constant_like(positions, 1));
  const Value out = convert(decoder.head(reshape(x, {dims[1], x.dim(2)})), DType::kF32);

  const Program program(device, g, {{out}});
  const pjrt::Buffer input = device.client().to_device<int32_t>(dims, tokens);
  const auto outs = program.run([&](const std::string& name) -> pjrt::Arg {
    if (name == "tokens") return input;
    if (auto it = adapter.find(name); it != adapter.end()) return it->second;
    return weights.at(name);
  });
  return pjrt::to_host<float>(outs[0]);
}

}  // namespace hone::engine
