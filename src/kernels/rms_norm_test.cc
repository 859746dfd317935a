#include "kernels/rms_norm.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <hwy/targets.h>

#include <cmath>
#include <iostream>
#include <vector>

#include "base/random.h"
#include "kernels/kernels.h"
#include "pjrt/custom_calls.h"
#include "pjrt/engine_for_test.h"

namespace hone::kernels {
namespace {

constexpr float kEps = 1e-5F;

struct Case {
  int64_t rows, n;
  std::vector<float> x, weight;
};

Case random_case(int64_t rows, int64_t n, Random& random) {
  Case c{rows, n, {}, {}};
  for (int64_t i = 0; i < rows * n; ++i) c.x.push_back(static_cast<float>(random.normal()));
  for (int64_t i = 0; i < n; ++i) c.weight.push_back(static_cast<float>(random.uniform(0.5, 2)));
  return c;
}

std::vector<double> reference(const Case& c) {
  std::vector<double> y;
  for (int64_t r = 0; r < c.rows; ++r) {
    const float* x = c.x.data() + r * c.n;
    double sum = 0;
    for (int64_t i = 0; i < c.n; ++i) sum += double{x[i]} * x[i];
    const double scale = 1 / std::sqrt(sum / static_cast<double>(c.n) + double{kEps});
    for (int64_t i = 0; i < c.n; ++i) y.push_back(x[i] * scale * c.weight[static_cast<size_t>(i)]);
  }
  return y;
}

// The largest error relative to the element; no sum here cancels, so a few roundings bound it.
double error(const std::vector<float>& got, const std::vector<double>& want) {
  EXPECT_EQ(got.size(), want.size());
  double worst = 0;
  for (size_t i = 0; i < want.size(); ++i)
    worst = std::max(worst, std::abs(got[i] - want[i]) / (std::abs(want[i]) + 1e-30));
  return worst;
}
constexpr double kTolerance = 1e-6;

// All widths around the vectors' (4, 8 and 16 lanes, four at a time), and those of real models.
std::vector<std::pair<int64_t, int64_t>> shapes() {
  std::vector<std::pair<int64_t, int64_t>> all;
  for (int64_t n = 1; n <= 70; ++n) all.emplace_back(3, n);
  for (const int64_t n : {127, 128, 129, 576, 1000, 1152, 2048, 8191})
    for (const int64_t rows : {1, 2, 33}) all.emplace_back(rows, n);
  all.emplace_back(0, 5);
  return all;
}

TEST(RmsNorm, EqualsTheScalarReferenceOnEveryTarget) {
  const std::vector<int64_t> targets = hwy::SupportedAndGeneratedTargets();
  int cases = 0;
  std::string names;
  for (const int64_t target : targets) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    Random random(1);
    for (const auto& [rows, n] : shapes()) {
      const Case c = random_case(rows, n, random);
      std::vector<float> y(c.x.size() + 1, -7);  // one more, to see a store too far
      rms_norm(c.x.data(), c.weight.data(), kEps, rows, n, y.data());
      EXPECT_EQ(y.back(), -7);
      y.pop_back();
      EXPECT_LT(error(y, reference(c)), kTolerance) << hwy::TargetName(target) << " " << n;
      std::vector<float> in_place = c.x;
      rms_norm(in_place.data(), c.weight.data(), kEps, rows, n, in_place.data());
      EXPECT_EQ(in_place, y);
      ++cases;
    }
    names += fmt::format(" {}", hwy::TargetName(target));
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  std::cout << cases << " cases on" << names << "\n";
  EXPECT_GE(targets.size(), 2U);
  EXPECT_GE(cases, 2 * 95);
}

class RmsNormInAProgram : public pjrt::OnEngine {
 protected:
  // x [a, b, n] through the custom call; rows = a * b.
  static std::vector<float> run(const pjrt::Client& client, const Case& c, int64_t weights) {
    const std::string x = fmt::format("tensor<1x{}x{}xf32>", c.rows, c.n);
    const std::string w = fmt::format("tensor<{}xf32>", weights);
    const std::string module = fmt::format(R"(
      module @m {{
        func.func public @main(%x: {0}, %w: {1}) -> {0} {{
          %0 = stablehlo.custom_call @hone_rms_norm(%x, %w)
              {{api_version = 4 : i32, backend_config = {{eps = 1.0e-5 : f32}}}}
              : ({0}, {1}) -> {0}
          return %0 : {0}
        }}
      }})",
                                           x, w);
    const auto in = client.to_device<float>({1, c.rows, c.n}, c.x);
    const auto weight = client.to_device<float>({weights}, std::vector<float>(c.weight));
    return pjrt::to_host<float>(client.compile(module).execute({in, weight})[0]);
  }
};
INSTANTIATE_TEST_SUITE_P(Cpu, RmsNormInAProgram, testing::ValuesIn(pjrt::kEngines),
                         pjrt::engine_name);

TEST_P(RmsNormInAProgram, EqualsTheScalarReference) {
  const pjrt::Client c = client();
  for (const Kernel& k : kernels()) pjrt::register_custom_call(c.plugin(), k.name, k.handler);
  Random random(2);
  // One block, several blocks, more blocks than threads, blocks that do not fit evenly, nothing.
  for (const auto& [rows, n] :
       {std::pair{1, 576}, {57, 576}, {2048, 576}, {1001, 100}, {3, 40000}, {0, 8}}) {
    const Case example = random_case(rows, n, random);
    EXPECT_LT(error(run(c, example, n), reference(example)), kTolerance) << rows << "x" << n;
  }
}

// Independent calls run at once on the threads that each of them also asks for help.
TEST_P(RmsNormInAProgram, ManyAtOnceDoNotWaitForEachOther) {
  constexpr int kCalls = 16;
  const pjrt::Client c = client();
  for (const Kernel& k : kernels()) pjrt::register_custom_call(c.plugin(), k.name, k.handler);
  const std::string x = "tensor<512x576xf32>", w = "tensor<576xf32>";
  std::string body, results, types;
  for (int i = 0; i < kCalls; ++i) {
    body += fmt::format(
        "%{0} = stablehlo.custom_call @hone_rms_norm(%x, %w) {{api_version = 4 : i32, "
        "backend_config = {{eps = {1:.1f} : f32}}}} : ({2}, {3}) -> {2}\n",
        i, 1.0 + i, x, w);
    results += fmt::format("{}%{}", i == 0 ? "" : ", ", i);
    types += fmt::format("{}{}", i == 0 ? "" : ", ", x);
  }
  const auto program = c.compile(fmt::format(
      "module @m {{ func.func public @main(%x: {}, %w: {}) -> ({}) {{\n{}return {} : {}\n}} }}", x,
      w, types, body, results, types));
  Random random(4);
  const Case example = random_case(512, 576, random);
  const auto in = c.to_device<float>({512, 576}, example.x);
  const auto weight = c.to_device<float>({576}, example.weight);
  const auto first = pjrt::to_host<float>(program.execute({in, weight})[kCalls - 1]);
  for (int again = 0; again < 50; ++again)
    EXPECT_EQ(pjrt::to_host<float>(program.execute({in, weight})[kCalls - 1]), first);
}

TEST_P(RmsNormInAProgram, RefusesOtherShapes) {
  const pjrt::Client c = client();
  for (const Kernel& k : kernels()) pjrt::register_custom_call(c.plugin(), k.name, k.handler);
  Random random(3);
  Case example = random_case(2, 8, random);
  example.weight.resize(7);
  EXPECT_THROW(run(c, example, 7), pjrt::Error);
}

}  // namespace
}  // namespace hone::kernels
