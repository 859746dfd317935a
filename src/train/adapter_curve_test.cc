// Ten steps from PEFT's own adapter folders against transformers and PEFT: the tiny model of each
// family, and mixtures of experts with adapters on the experts and the routers' load-balance loss.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "train/golden_tensors.h"
#include "train/trainer.h"

namespace hone::train {
namespace {

constexpr double kLossTolerance = 1e-4;
constexpr size_t kFamilies = 11, kExperts = 4;
constexpr StepShape kShape{.micro_batches = 1, .sequences = 4, .seq_len = 16, .rows = 64};

// What follows the last target of a row is padding.
StepBatch batch_of(const std::vector<int32_t>& tokens, const std::vector<int32_t>& mask, size_t i) {
  const size_t width = static_cast<size_t>(kShape.seq_len), size = 4 * width;
  StepBatch b;
  for (size_t j = 0; j < size; ++j) {
    b.tokens.push_back(tokens[i * size + j]);
    b.positions.push_back(static_cast<int32_t>(j % width));
    b.segments.push_back(0);
  }
  for (size_t j = 0; j < size; ++j) {
    if (j % width + 1 == width || mask[i * size + j + 1] == 0) continue;
    for (size_t k = j - j % width; k <= j + 1; ++k) b.segments[k] = 1;
    b.rows.push_back(static_cast<int32_t>(j));
    b.labels.push_back(b.tokens[j + 1]);
    b.weights.push_back(1);
    b.samples.push_back(static_cast<int32_t>(j / width));
  }
  const auto full = static_cast<size_t>(kShape.rows);
  b.rows.resize(full, 0);
  b.labels.resize(full, 0);
  b.weights.resize(full, 0);
  b.samples.resize(full, 0);
  return b;
}

// The largest difference from the adapter at the end of PEFT's run, by PEFT's names.
double worst_weight(const engine::Model& model, const ckpt::Safetensors& golden) {
  const engine::Declarations declared(model.files, model.tuning);
  const ckpt::PeftAdapter now =
      engine::peft_of(*model.tuning.lora, model.trained, declared.params, "", model.adapter_config);
  double worst = 0;
  for (const ckpt::PeftTensor& t : now.tensors) {
    const auto want = golden_values<float>(golden, "final/base_model.model." + t.name);
    EXPECT_EQ(t.values.size(), want.size()) << t.name;
    for (size_t i = 0; i < want.size(); ++i)
      worst = std::max(worst, static_cast<double>(std::abs(t.values[i] - want[i])));
  }
  return worst;
}

void check_curve(const std::filesystem::path& folder, const char* remat) {
  SCOPED_TRACE(fmt::format("{}, remat {}", folder.filename().string(), remat));
  const nlohmann::json curve = read_json(folder / "curve.json");
  const ckpt::Safetensors golden(folder / "golden.safetensors");
  const ckpt::Safetensors batches(kGolden / "lora_curve.safetensors");
  const auto tokens = golden_values<int32_t>(batches, "tokens");
  const auto mask = golden_values<int32_t>(batches, "mask");
  Recipe recipe;
  recipe.optim.clip = curve["clip_grad_norm"];
  recipe.optim.weight_decay = curve.value("weight_decay", 0.0);
  recipe.objective.router_aux_loss_coef = curve.value("router_aux_loss_coef", 0.0);
  recipe.remat = remat;
  engine::Model model =
      engine::Model::open((kGolden / curve["model"].get<std::string>()).string(), folder.string());
  TrainStep step(model, recipe, kShape);
  double worst_loss = 0, worst_norm = 0;
  for (size_t i = 0; i < curve["steps"].size(); ++i) {
    const nlohmann::json& want = curve["steps"][i];
    const StepResult got =
        step.run(batch_of(tokens, mask, i), want["lr"], static_cast<int64_t>(i) + 1,
                 std::numeric_limits<double>::infinity());
    const double loss = want["loss"], norm = want["grad_norm"];
    worst_loss = std::max(worst_loss, std::abs(got.loss - loss));
    worst_norm = std::max(worst_norm, std::abs(got.grad_norm - norm) / norm);
    EXPECT_NEAR(got.loss, loss, kLossTolerance) << "step " << i + 1;
    EXPECT_NEAR(got.grad_norm, norm, 1e-3 * norm) << "step " << i + 1;
  }
  const double worst = worst_weight(model, golden);
  EXPECT_LE(worst, 2e-3);  // ten steps of 1e-2
  std::printf("%s, remat %s: loss within %.1e, norm %.1e, weights %.1e\n",
              folder.filename().c_str(), remat, worst_loss, worst_norm, worst);
}

void check_curves(const char* folder, size_t floor) {
  size_t curves = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kGolden / folder)) {
    check_curve(entry.path(), "none");
    check_curve(entry.path(), "block");
    ++curves;
  }
  std::printf("%zu curves\n", curves);
  EXPECT_GE(curves, floor);
}

TEST(AdapterCurve, TenStepsOfEachFamilyEqualPeft) { check_curves("family_adapters", kFamilies); }

TEST(AdapterCurve, TenStepsOfExpertsEqualPeft) { check_curves("expert_adapters", kExperts); }

TEST(AdapterCurve, ALossOfRoutersNeedsRouters) {
  Recipe recipe;
  recipe.objective.router_aux_loss_coef = 0.1;
  engine::Model model =
      engine::Model::open((kGolden / "llama_tiny").string(), nn::Tuning{.lora = nn::Lora{}}, 0);
  EXPECT_THROW(TrainStep(model, recipe, kShape), ConfigError);
}

}  // namespace
}  // namespace hone::train
