// One global batch, however it is split into micro-batches and packed into rows: the same loss and
// the same gradient.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/random.h"
#include "data/batch.h"
#include "train/evaluator.h"
#include "train/step.h"
#include "train/trainer.h"

namespace hone::train {
namespace {

constexpr double kLossTolerance = 1e-6, kGradientTolerance = 1e-5;  // relative; f32
constexpr int64_t kSamples = 16, kLongest = 16;

std::vector<data::Sample> samples() {
  Random random(7);
  std::vector<data::Sample> all(kSamples);
  for (data::Sample& s : all) {
    const auto length = static_cast<int64_t>(4 + random.below(kLongest - 3));
    for (int64_t t = 0; t < length; ++t) {
      s.ids.push_back(static_cast<int32_t>(3 + random.below(120)));
      s.mask.push_back(t + 1 == length || random.below(2) == 0);
    }
  }
  return all;
}

// How the samples stand: rows of a micro-batch, samples of a row.
struct Split {
  const char* name;
  int64_t rows, per_row;
};
constexpr Split kSplits[] = {
    {"1 x 16", 16, 1},  {"2 x 8", 8, 1},        {"4 x 4", 4, 1},        {"16 x 1", 1, 1},
    {"packed 8", 8, 2}, {"packed 4 x 2", 2, 2}, {"packed 1 x 4", 4, 4}, {"packed 4 x 1", 1, 4},
};

struct Outcome {
  double loss;
  std::vector<float> gradient;  // of every trained weight, one after another
};

Outcome run(const Split& split) {
  Recipe recipe;
  recipe.adapter.rank = 4;
  recipe.optim.clip = 0;
  engine::Model model = engine::Model::open("tests/golden/llama_tiny", tuning_of(recipe.adapter),
                                            /*seed=*/3);
  // B is not zero, so that A has a gradient too, and small: at three times the size, one unit in
  // the last place of B moves the gradient by more than the tolerance.
  Random random(5);
  for (auto& [name, buffer] : model.trained) {
    std::vector<float> values(static_cast<size_t>(buffer.type().size()));
    for (float& v : values) v = static_cast<float>(random.uniform(-0.1, 0.1));
    buffer =
        model.device.client().to_device<float>(buffer.type().dims, std::span<const float>(values));
  }
  const StepShape shape{.micro_batches = kSamples / split.rows / split.per_row,
                        .sequences = split.rows,
                        .seq_len = kLongest * split.per_row,
                        .rows = kLongest * split.rows * split.per_row};
  const data::SampleSet set(samples(), {.batch = split.rows, .seq_len = shape.seq_len}, "set");
  StepBatch batch;
  uint32_t next = 0;
  for (int64_t m = 0; m < shape.micro_batches; ++m) {
    std::vector<std::vector<uint32_t>> rows(static_cast<size_t>(split.rows));
    for (auto& row : rows)
      for (int64_t i = 0; i < split.per_row; ++i) row.push_back(next++);
    append(batch, data::make_batch(set, rows, shape.rows), shape, std::nullopt);
  }
  TrainStep step(model, recipe, shape);
  Outcome o{step.run(batch, /*lr=*/0, 1, std::numeric_limits<double>::infinity()).loss, {}};
  // AdamW's first moment after one step from zero is (1 - beta1) times the gradient.
  for (const std::string& name : step.names())
    for (float m : pjrt::to_host<float>(step.state().at("m." + name)))
      o.gradient.push_back(m / static_cast<float>(1 - recipe.optim.betas[0]));
  return o;
}

TEST(BatchSplit, GivesTheSameLossAndGradient) {
  const Outcome want = run(kSplits[0]);
  double size = 0;
  for (float g : want.gradient) size = std::max(size, static_cast<double>(std::abs(g)));
  EXPECT_GT(size, 1e-3);
  for (const Split& split : kSplits) {
    const Outcome got = run(split);
    EXPECT_NEAR(got.loss, want.loss, kLossTolerance * want.loss) << split.name;
    ASSERT_EQ(got.gradient.size(), want.gradient.size());
    double worst = 0;
    for (size_t i = 0; i < got.gradient.size(); ++i)
      worst = std::max(worst, static_cast<double>(std::abs(got.gradient[i] - want.gradient[i])));
    EXPECT_LE(worst, kGradientTolerance * size) << split.name;
    std::printf("%-14s loss %.7f, gradient within %.1e\n", split.name, got.loss, worst / size);
  }
  std::printf("%zu splits\n", std::size(kSplits));
  EXPECT_GE(std::size(kSplits), 8U);
}

}  // namespace
}  // namespace hone::train
