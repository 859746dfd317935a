// Ten steps on an NF4 base against PEFT on bitsandbytes' Linear4bit (float32 on a CPU), from the
// adapters and on the batches of lora_curve.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "ckpt/safetensors.h"
#include "train/open_model.h"
#include "train/step.h"

namespace hone::train {
namespace {

const std::filesystem::path kGolden = "tests/golden";
constexpr double kLossTolerance = 1e-3;  // the promise
constexpr size_t kCurves = 3;

template <class T>
std::vector<T> values(const ckpt::Safetensors& file, const std::string& name) {
  const ckpt::TensorView* t = file.find(name);
  if (t == nullptr) throw FileError("golden has no {}", name);
  std::vector<T> v(t->bytes.size() / sizeof(T));
  std::memcpy(v.data(), t->bytes.data(), t->bytes.size());
  return v;
}

constexpr StepShape kShape{.micro_batches = 1, .sequences = 4, .seq_len = 16, .rows = 64};

StepBatch batch_of(const ckpt::Safetensors& golden, size_t step) {
  const auto tokens = values<int32_t>(golden, "tokens"), mask = values<int32_t>(golden, "mask");
  constexpr size_t kSize = 64, kWidth = 16;
  StepBatch b;
  for (size_t i = 0; i < kSize; ++i) {
    b.tokens.push_back(tokens[step * kSize + i]);
    b.positions.push_back(static_cast<int32_t>(i % kWidth));
    b.segments.push_back(1);
  }
  for (size_t i = 0; i + 1 < kSize; ++i) {
    if ((i + 1) % kWidth == 0 || mask[step * kSize + i + 1] == 0) continue;
    b.rows.push_back(static_cast<int32_t>(i));
    b.labels.push_back(b.tokens[i + 1]);
    b.weights.push_back(1);
  }
  b.rows.resize(kSize, 0);
  b.labels.resize(kSize, 0);
  b.weights.resize(kSize, 0);
  return b;
}

Recipe recipe_of(const nlohmann::json& curve, const char* remat) {
  Recipe r;
  r.model = (kGolden / "llama_tiny").string();
  r.adapter.kind = curve["dora"] ? "dora" : "lora";
  r.adapter.rank = 4;
  r.adapter.alpha = 8;
  r.base.store = "nf4";
  r.optim.weight_decay = curve["weight_decay"];
  r.optim.clip = curve["clip_grad_norm"];
  r.remat = remat;
  return r;
}

void check_curve(const std::string& name, const nlohmann::json& curve, const char* remat) {
  SCOPED_TRACE(fmt::format("{}, remat {}", name, remat));
  const ckpt::Safetensors golden(kGolden / "lora_curve.safetensors");
  const Recipe recipe = recipe_of(curve, remat);
  engine::Model model = open_model(recipe);
  const char* start = curve["lora_b"] == "random" ? "random_decay" : "zero";
  for (auto& [weight, buffer] : model.trained) {
    const std::string from = fmt::format("{}/initial/base_model.model.{}", start, weight);
    if (golden.find(from) == nullptr) continue;  // DoRA's magnitudes start as the base has them
    buffer = model.device.client().to_device<float>(
        buffer.type().dims, std::span<const float>(values<float>(golden, from)));
  }
  TrainStep step(model, recipe, kShape);
  double worst = 0, worst_norm = 0;
  for (size_t i = 0; i < curve["steps"].size(); ++i) {
    const nlohmann::json& want = curve["steps"][i];
    const StepResult got = step.run(batch_of(golden, i), want["lr"], static_cast<int64_t>(i) + 1,
                                    std::numeric_limits<double>::infinity());
    const double loss = want["loss"], norm = want["grad_norm"];
    worst = std::max(worst, std::abs(got.loss - loss));
    worst_norm = std::max(worst_norm, std::abs(got.grad_norm - norm) / norm);
    EXPECT_NEAR(got.loss, loss, kLossTolerance) << "step " << i + 1;
    EXPECT_NEAR(got.grad_norm, norm, 5e-3 * norm) << "step " << i + 1;
  }
  std::printf("%s, remat %s: loss within %.1e, norms within %.1e\n", name.c_str(), remat, worst,
              worst_norm);
}

TEST(QloraCurve, TenStepsEqualPeftOnBitsandbytes) {
  const nlohmann::json golden = read_json(kGolden / "qlora_curve.json");
  size_t curves = 0;
  for (const auto& [name, curve] : golden["curves"].items()) {
    check_curve(name, curve, "block");
    ++curves;
  }
  check_curve("zero", golden["curves"]["zero"], "none");
  EXPECT_GE(curves, kCurves);
}

}  // namespace
}  // namespace hone::train
