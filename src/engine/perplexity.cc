#include "engine/perplexity.h"

#include <cmath>
#include <vector>

#include "engine/forward.h"
#include "engine/program.h"
#include "nn/loss.h"
#include "ops/ops.h"

namespace hone::engine {
namespace {

// log p of the tokens from `first` on, f32 [context - first], of tokens i32 [1, context].
Program log_probabilities(const Model& model, int64_t context, int64_t first) {
  Graph g;
  const Dims dims{1, context};
  const Value ids = g.parameter("tokens", {DType::kS32, dims});
  nn::Params params{.graph = g, .tuning = model.tuning};
  const Decoder decoder = model.build(params);
  const Value positions = iota(g, dims, 1, DType::kS32);
  const Value x = sequence_states(decoder, ids, positions, constant_like(positions, 1));
  const int64_t rows = context - first;  // each foretells the next token
  const Value before = reshape(slice(x, 1, first - 1, context - 1), {rows, x.dim(2)});
  const Value labels = reshape(slice(ids, 1, first, context), {rows});
  const Value logits = convert(decoder.head(before), DType::kF32);
  return {model.device, g, {{nn::log_probability(logits, labels)}}};
}

}  // namespace

double Perplexity::value() const { return std::exp(nll / static_cast<double>(counted)); }

double Perplexity::spread() const {
  const auto n = static_cast<double>(counted);
  const double mean = nll / n, variance = nll_squares / n - mean * mean;
  return counted < 2 ? 0 : value() * std::sqrt(std::max(variance, 0.0) / (n - 1));
}

Perplexity perplexity(const Model& model, std::span<const int32_t> tokens, int64_t context,
                      std::optional<int32_t> bos,
                      const std::function<void(const Perplexity&)>& on_window) {
  const ModelShape& shape = model.files.shape();
  if (context > shape.max_positions)
    throw ConfigError("a context of {} tokens is more than the model's {}", context,
                      shape.max_positions);
  if (std::ssize(tokens) < context)
    throw ConfigError("the text has {} tokens, less than one context of {}; give more of it",
                      tokens.size(), context);
  for (const int32_t t : tokens)
    if (t < 0 || t >= shape.vocab)
      throw ConfigError("token {} is outside the model's vocabulary of {}", t, shape.vocab);
  const Program program = log_probabilities(model, context, context / 2 + 1);
  Perplexity result;
  for (; std::ssize(tokens) >= context; tokens = tokens.subspan(static_cast<size_t>(context))) {
    std::vector<int32_t> window(tokens.begin(), tokens.begin() + static_cast<long>(context));
    if (bos) window[0] = *bos;
    const pjrt::Buffer input =
        model.device.client().to_device<int32_t>({1, context}, std::span<const int32_t>(window));
    const auto outs = program.run([&](const std::string& name) -> pjrt::Arg {
      if (name == "tokens") return input;
      return model.weight(name);
    });
    for (const double log_p : pjrt::to_host<float>(outs[0])) {
      result.nll -= log_p;
      result.nll_squares += log_p * log_p;
      ++result.counted;
    }
    ++result.windows;
    if (on_window) on_window(result);
  }
  return result;
}

}  // namespace hone::engine
