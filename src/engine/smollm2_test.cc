// The real SmolLM2-135M-Instruct: next tokens against llama.cpp, logits against transformers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/json.h"
#include "engine/forward.h"
#include "engine/generator.h"
#include "engine/model.h"
#include "ops/ops.h"

namespace hone::engine {
namespace {

constexpr size_t kPromptFloor = 20;
// transformers and hone compute in f32 from the same dequantised weights; llama.cpp's products on
// quantised weights are rougher, so only its choice is compared, where it is clear.
constexpr double kLogitTolerance = 2e-3;

class SmolLm2 : public testing::Test {
 protected:
  static const Model& model() {
    static const Model m = Model::open("smollm2-135m", std::nullopt);
    return m;
  }
  static nlohmann::json golden() { return read_json("tests/golden/smollm2_next.json"); }
};

// The last position's logits of every prompt, padded on the right to one shape.
std::vector<std::vector<float>> last_logits(const Model& m,
                                            const std::vector<std::vector<int32_t>>& prompts) {
  size_t longest = 0;
  for (const auto& p : prompts) longest = std::max(longest, p.size());
  const Dims dims{static_cast<int64_t>(prompts.size()), static_cast<int64_t>(longest)};
  std::vector<int32_t> ids, segments, last;
  for (const auto& p : prompts)
    for (size_t i = 0; i < longest; ++i) {
      if (i + 1 == p.size()) last.push_back(static_cast<int32_t>(ids.size()));
      ids.push_back(i < p.size() ? p[i] : 0);
      segments.push_back(i < p.size());
    }
  Graph g;
  const Value tokens = g.parameter("tokens", {DType::kS32, dims});
  const Value segment = g.parameter("segments", {DType::kS32, dims});
  const Value rows = g.parameter("rows", {DType::kS32, {dims[0]}});
  nn::Params params{.graph = g};
  const Decoder d = m.files.build(nn::Scope(params));
  const Value x = sequence_states(d, tokens, iota(g, dims, 1, DType::kS32), segment);
  const Value logits = d.head(take(reshape(x, {dims[0] * dims[1], x.dim(2)}), rows));
  const Program program(m.device, g, {{logits}});
  Buffers in;
  in["tokens"] = m.device.client().to_device<int32_t>(dims, std::span<const int32_t>(ids));
  in["segments"] = m.device.client().to_device<int32_t>(dims, std::span<const int32_t>(segments));
  in["rows"] = m.device.client().to_device<int32_t>({dims[0]}, std::span<const int32_t>(last));
  const auto outs = program.run([&](const std::string& name) -> pjrt::Arg {
    return in.contains(name) ? in.at(name) : m.weights.at(name);
  });
  const std::vector<float> all = pjrt::to_host<float>(outs[0]);
  const size_t vocab = static_cast<size_t>(m.files.shape().vocab);
  std::vector<std::vector<float>> result;
  for (size_t r = 0; r < prompts.size(); ++r)
    result.emplace_back(all.begin() + static_cast<long>(r * vocab),
                        all.begin() + static_cast<long>((r + 1) * vocab));
  return result;
}

TEST_F(SmolLm2, NextTokensEqualLlamaCppAndLogitsEqualTransformers) {
  const nlohmann::json prompts = golden()["prompts"];
  std::vector<std::vector<int32_t>> tokens;
  for (const auto& p : prompts) tokens.push_back(p["tokens"].get<std::vector<int32_t>>());
  const std::vector<std::vector<float>> logits = last_logits(model(), tokens);
  double worst = 0;
  for (size_t i = 0; i < prompts.size(); ++i) {
    const auto top = std::ranges::max_element(logits[i]) - logits[i].begin();
    EXPECT_EQ(top, prompts[i]["next"].get<int64_t>()) << prompts[i]["text"];
    const auto& reference = prompts[i]["transformers"];
    for (size_t k = 0; k < reference["ids"].size(); ++k) {
      const double got = logits[i][reference["ids"][k].get<size_t>()];
      worst = std::max(worst, std::abs(got - reference["logits"][k].get<double>()));
    }
  }
  EXPECT_LE(worst, kLogitTolerance);
  std::printf("%zu prompts, logits within %.1e of transformers\n", prompts.size(), worst);
  EXPECT_GE(prompts.size(), kPromptFloor);
}

// The cached path, batched with left padding, chooses what the whole-sequence path chooses.
TEST_F(SmolLm2, GeneratesInABatchWhatItGeneratesAlone) {
  const Model& m = model();
  const nlohmann::json prompts = golden()["prompts"];
  std::vector<std::vector<int32_t>> tokens;
  for (size_t i = 0; i < 4; ++i) tokens.push_back(prompts[i]["tokens"].get<std::vector<int32_t>>());
  Generator generator(m);
  const GenerateOptions options{.max_new_tokens = 12, .sampling = {}, .stop_tokens = {}};
  const auto together = generator.run(tokens, options);
  for (size_t i = 0; i < tokens.size(); ++i) {
    EXPECT_EQ(together[i].front(), prompts[i]["next"].get<int32_t>());
    EXPECT_EQ(together[i].size(), 12U);
  }
  EXPECT_EQ(generator.run({tokens[0]}, options)[0], together[0]);

  // Teacher forcing: every generated token is the whole-sequence path's choice.
  std::vector<std::vector<int32_t>> forced;
  for (size_t k = 0; k < 12; ++k) {
    forced.push_back(tokens[1]);
    forced.back().insert(forced.back().end(), together[1].begin(),
                         together[1].begin() + static_cast<long>(k));
  }
  const auto logits = last_logits(m, forced);
  for (size_t k = 0; k < 12; ++k)
    EXPECT_EQ(std::ranges::max_element(logits[k]) - logits[k].begin(), together[1][k]);
}

}  // namespace
}  // namespace hone::engine
