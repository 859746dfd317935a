// What a step does besides the optimiser's own terms: decay groups, LoRA+'s rates, the running
// mean, clipping, and steps that are left out.
#include "train/step.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "train/trainer.h"

namespace hone::train {
namespace {

constexpr StepShape kShape{.micro_batches = 1, .sequences = 4, .seq_len = 16, .rows = 60};
constexpr double kNoLimit = std::numeric_limits<double>::infinity();

using Floats = std::vector<float>;

StepBatch some_batch() {
  StepBatch b;
  for (int32_t i = 0; i < 64; ++i) {
    b.tokens.push_back(3 + i * i % 100);
    b.positions.push_back(i % 16);
    b.segments.push_back(1);
  }
  for (int32_t i = 0; i < 64; ++i) {
    if (i % 16 == 15) continue;  // nothing follows
    b.rows.push_back(i);
    b.labels.push_back(b.tokens[static_cast<size_t>(i) + 1]);
    b.weights.push_back(1);
  }
  return b;
}

// A model whose adapter has left its start: B is not zero.
struct Stepper {
  explicit Stepper(const Recipe& r)
      : recipe(r),
        model(engine::Model::open("tests/golden/llama_tiny", tuning_of(r.adapter), /*seed=*/0)) {
    for (auto& [name, buffer] : model.trained) {
      Floats v = pjrt::to_host<float>(buffer);
      if (name.ends_with("lora_B.weight"))
        for (size_t i = 0; i < v.size(); ++i)
          v[i] = static_cast<float>(0.3 * std::sin(static_cast<double>(i)));
      set(name, v);
    }
    step.emplace(model, recipe, kShape);
  }

  StepResult take(int64_t number, double limit = kNoLimit) {
    return step->run(some_batch(), recipe.optim.lr, number, limit);
  }
  Floats values(const std::string& name) const {
    return pjrt::to_host<float>(model.trained.at(name));
  }
  void set(const std::string& name, const Floats& v) {
    pjrt::Buffer& buffer = model.trained.at(name);
    buffer = model.device.client().to_device<float>(buffer.type().dims, std::span(v));
  }
  // The bytes of everything that a step replaces.
  std::map<std::string, std::vector<std::byte>> bytes() {
    std::map<std::string, std::vector<std::byte>> all;
    for (const engine::Buffers* buffers : {&model.trained, &step->state()})
      for (const auto& [name, buffer] : *buffers)
        buffer.to_host(all.emplace(name, buffer.type().bytes()).first->second);
    return all;
  }

  Recipe recipe;
  engine::Model model;
  std::optional<TrainStep> step;
};

Recipe tiny_recipe() {
  Recipe r;
  r.adapter.rank = 4;
  r.adapter.alpha = 8;
  r.adapter.targets = {"up_proj"};
  r.optim.lr = 1e-2;
  return r;
}

// Whose step is the gradient itself.
Recipe plain_descent() {
  Recipe r = tiny_recipe();
  r.optim.kind = "sgd";
  r.optim.betas = {0, 0};
  r.optim.lr = 1;
  r.optim.clip = 0;
  return r;
}

// How far each trained weight goes in one step.
std::map<std::string, Floats> moves(Stepper& run) {
  std::map<std::string, Floats> moved;
  for (const auto& [name, buffer] : run.model.trained) moved[name] = pjrt::to_host<float>(buffer);
  run.take(1);
  for (auto& [name, v] : moved) {
    const Floats now = run.values(name);
    for (size_t i = 0; i < v.size(); ++i) v[i] = now[i] - v[i];
  }
  return moved;
}

double largest(const Floats& v) {
  double most = 0;
  for (float f : v) most = std::max(most, static_cast<double>(std::abs(f)));
  return most;
}

// The largest of |a - by b|.
double distance(const Floats& a, const Floats& b, double by) {
  double most = 0;
  for (size_t i = 0; i < a.size(); ++i)
    most = std::max(most, std::abs(static_cast<double>(a[i]) - by * static_cast<double>(b[i])));
  return most;
}

TEST(TrainStep, VectorsAreNotDecayed) {
  Recipe r = tiny_recipe();
  r.adapter.kind = "dora";
  Stepper without(r);
  r.optim.weight_decay = 0.5;
  Stepper with(r);
  without.take(1);
  with.take(1);
  int vectors = 0, matrices = 0;
  for (const auto& [name, buffer] : with.model.trained) {
    const bool vector = buffer.type().rank() == 1;
    ++(vector ? vectors : matrices);
    EXPECT_EQ(vector, with.values(name) == without.values(name)) << name;
  }
  std::printf("%d vectors, %d matrices\n", vectors, matrices);
  EXPECT_EQ(vectors, 3);
  EXPECT_EQ(matrices, 6);
}

TEST(TrainStep, LoraPlusMultipliesTheRateOfB) {
  Recipe r = plain_descent();
  Stepper plain(r);
  r.adapter.variant = "loraplus";
  r.adapter.loraplus_ratio = 4;
  Stepper plus(r);
  const auto once = moves(plain), more = moves(plus);
  int compared = 0;
  for (const auto& [name, move] : once) {
    const double factor = name.ends_with("lora_B.weight") ? 4 : 1;
    EXPECT_GT(largest(move), 1e-3) << name;
    // A weight of about 1 rounds to 6e-8.
    EXPECT_LE(distance(more.at(name), move, factor), 1e-6) << name;
    ++compared;
  }
  EXPECT_EQ(compared, 6);
}

TEST(TrainStep, TheRunningMeanAfterThreeSteps) {
  Recipe r = tiny_recipe();
  r.optim.ema = 0.75;
  Stepper run(r);
  std::map<std::string, std::vector<double>> mean;
  for (const auto& [name, buffer] : run.model.trained) {
    const Floats v = pjrt::to_host<float>(buffer);
    mean[name].assign(v.begin(), v.end());
  }
  for (int64_t number = 1; number <= 3; ++number) {
    run.take(number);
    for (auto& [name, m] : mean) {
      const Floats now = run.values(name);
      for (size_t i = 0; i < m.size(); ++i) m[i] = m[i] * 0.75 + static_cast<double>(now[i]) * 0.25;
    }
  }
  int compared = 0;
  for (const auto& [name, want] : mean) {
    const Floats got = pjrt::to_host<float>(run.step->state().at("ema." + name));
    for (size_t i = 0; i < want.size(); ++i)
      ASSERT_NEAR(static_cast<double>(got[i]), want[i], 1e-6) << name;
    EXPECT_GT(distance(got, run.values(name), 1), 1e-3) << name;  // it lags behind
    ++compared;
  }
  EXPECT_EQ(compared, 6);
}

TEST(TrainStep, ClippingScalesTheWholeGradient) {
  Recipe r = plain_descent();
  Stepper free(r);
  const double norm = Stepper(r).take(1).grad_norm;
  const auto whole = moves(free);
  r.optim.clip = norm / 2;
  Stepper half(r);
  const auto clipped = moves(half);
  r.optim.clip = norm * 2;
  Stepper wide(r);
  EXPECT_EQ(moves(wide), whole);
  for (const auto& [name, move] : whole)
    EXPECT_LE(distance(clipped.at(name), move, 0.5), 1e-6) << name;
}

// What makes a step fail.
struct Fault {
  const char* name;
  void (*cause)(Stepper&);
  double limit;
  bool finite_loss, finite_norm;
};

const char* const kA = "model.layers.1.mlp.up_proj.lora_A.weight";
const char* const kB = "model.layers.1.mlp.up_proj.lora_B.weight";

const Fault kFaults[] = {
    {"a weight that is no number",
     [](Stepper& run) {
       Floats v = run.values(kA);
       v[3] = std::numeric_limits<float>::quiet_NaN();
       run.set(kA, v);
     },
     kNoLimit, false, false},
    {"a gradient whose square overflows",
     [](Stepper& run) {
       run.set(kA, Floats(run.values(kA).size(), 1e25F));
       run.set(kB, Floats(run.values(kB).size(), 0.0F));
     },
     kNoLimit, true, false},
    {"a loss above the limit", [](Stepper&) {}, 1e-3, true, true},
};

TEST(TrainStep, AStepLeftOutChangesNoBit) {
  size_t cases = 0;
  for (const Optimizer* optimizer : optimizers()) {
    Recipe r = tiny_recipe();
    r.adapter.rank = 128;  // large enough for 8 bits
    r.optim.kind = optimizer->name;
    r.optim.ema = 0.9;
    r.optim.weight_decay = 0.1;
    Stepper run(r);
    EXPECT_TRUE(run.take(1).updated);
    for (const Fault& fault : kFaults) {
      SCOPED_TRACE(fmt::format("{}, {}", optimizer->name, fault.name));
      const Floats a = run.values(kA), b = run.values(kB);
      fault.cause(run);
      const auto before = run.bytes();
      const StepResult result = run.take(2, fault.limit);
      EXPECT_FALSE(result.updated);
      EXPECT_EQ(std::isfinite(result.loss), fault.finite_loss);
      EXPECT_EQ(std::isfinite(result.grad_norm), fault.finite_norm);
      EXPECT_EQ(run.bytes(), before);
      run.set(kA, a);
      run.set(kB, b);
      ++cases;
    }
    const auto before = run.bytes();
    EXPECT_TRUE(run.take(2).updated);
    for (const auto& [name, bytes] : run.bytes()) EXPECT_NE(bytes, before.at(name)) << name;
  }
  std::printf("%zu steps left out by %zu optimisers\n", cases, optimizers().size());
  EXPECT_GE(cases, 18U);
}

}  // namespace
}  // namespace hone::train
