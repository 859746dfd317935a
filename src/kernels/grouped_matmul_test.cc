#include "kernels/grouped_matmul.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <hwy/targets.h>

#include <bit>
#include <cmath>
#include <iostream>
#include <vector>

#include "base/random.h"
#include "kernels/kernels.h"
#include "pjrt/custom_calls.h"
#include "pjrt/engine_for_test.h"

namespace hone::kernels {
namespace {

// A stack of matrices as they are stored, and the values that are stored so.
struct Matrices {
  int64_t groups, n, k;
  Stored stored;
  std::vector<std::byte> bytes = {};
  std::vector<float> values = {};

  Matrices(int64_t g, int64_t rows, int64_t columns, Stored s, Random& random)
      : groups(g), n(rows), k(columns), stored(s) {
    for (int64_t i = 0; i < g * rows * columns; ++i) {
      float v = static_cast<float>(random.normal());
      if (stored == Stored::kF32) add(v);
      if (stored == Stored::kBF16) {
        const auto half = static_cast<uint16_t>(std::bit_cast<uint32_t>(v) >> 16);
        v = std::bit_cast<float>(static_cast<uint32_t>(half) << 16);
        add(half);
      }
      if (stored == Stored::kF16) {
        const auto half = static_cast<_Float16>(v);
        v = static_cast<float>(half);
        add(half);
      }
      values.push_back(v);
    }
  }
  template <class T>
  void add(T element) {
    const auto* at = reinterpret_cast<const std::byte*>(&element);
    bytes.insert(bytes.end(), at, at + sizeof element);
  }
  float at(int64_t g, int64_t i, int64_t j) const {
    return values[static_cast<size_t>((g * n + i) * k + j)];
  }
};

std::vector<float> rows_of(int64_t rows, int64_t width, Random& random) {
  std::vector<float> x;
  for (int64_t i = 0; i < rows * width; ++i) x.push_back(static_cast<float>(random.normal()));
  return x;
}

std::vector<double> reference(const std::vector<float>& x, const Matrices& w,
                              const std::vector<int32_t>& sizes, int64_t rows, bool transposed) {
  const int64_t ins = transposed ? w.n : w.k, outs = transposed ? w.k : w.n;
  std::vector<double> y(static_cast<size_t>(rows * outs), 0);
  int64_t r = 0;
  for (int64_t g = 0; g < w.groups; ++g)
    for (int32_t i = 0; i < sizes[static_cast<size_t>(g)] && r < rows; ++i, ++r)
      for (int64_t o = 0; o < outs; ++o)
        for (int64_t c = 0; c < ins; ++c)
          y[static_cast<size_t>(r * outs + o)] +=
              double{x[static_cast<size_t>(r * ins + c)]} *
              double{transposed ? w.at(g, c, o) : w.at(g, o, c)};
  return y;
}

// As a share of the largest: a sum of `terms` normal products has roundings of about
// sqrt(terms) 2^-24 of the largest partial sum.
double error(std::span<const float> got, const std::vector<double>& want) {
  EXPECT_EQ(got.size(), want.size());
  double worst = 0, largest = 1e-30;
  for (size_t i = 0; i < want.size(); ++i) {
    worst = std::max(worst, std::abs(static_cast<double>(got[i]) - want[i]));
    largest = std::max(largest, std::abs(want[i]));
  }
  return worst / largest;
}
constexpr double kTolerance = 3e-6;

constexpr Stored kAll[] = {Stored::kF32, Stored::kBF16, Stored::kF16};

TEST(GroupedMatmul, EqualsTheScalarReferenceOnEveryTarget) {
  const std::vector<int64_t> targets = hwy::SupportedAndGeneratedTargets();
  int cases = 0;
  std::string names;
  for (const int64_t target : targets) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    Random random(1);
    for (const Stored stored : kAll)
      for (const int64_t rows : {1, 2, 3, 4, 5, 9})
        for (const auto& [n, k] : {std::pair<int64_t, int64_t>{1, 1},
                                   {5, 3},
                                   {7, 16},
                                   {4, 31},
                                   {9, 64},
                                   {16, 67},
                                   {33, 130}}) {
          const Matrices w(1, n, k, stored, random);
          const std::vector<int32_t> all{static_cast<int32_t>(rows)};
          std::vector<float> x = rows_of(rows, k, random);
          std::vector<float> y(static_cast<size_t>(rows * n + 1), -7);
          rows_times_matrix(x.data(), rows, w.bytes.data(), stored, n, k, y.data(), n);
          EXPECT_EQ(y.back(), -7);
          y.pop_back();
          EXPECT_LT(error(y, reference(x, w, all, rows, false)), kTolerance)
              << hwy::TargetName(target) << " " << n << "x" << k;

          x = rows_of(rows, n, random);
          y.assign(static_cast<size_t>(rows * k + 1), -7);
          const int64_t half = k / 2;  // two tiles, the second from the middle of a vector
          rows_times_columns(x.data(), rows, w.bytes.data(), stored, n, k, 0, half, y.data());
          rows_times_columns(x.data(), rows, w.bytes.data(), stored, n, k, half, k, y.data());
          EXPECT_EQ(y.back(), -7);
          y.pop_back();
          EXPECT_LT(error(y, reference(x, w, all, rows, true)), kTolerance)
              << hwy::TargetName(target) << " " << n << "x" << k << " transposed";

          // Of the rows of two matrices: x is [rows, k] now, and z [n, k] in two tiles.
          const std::vector<float> a = rows_of(rows, n, random), b = rows_of(rows, k, random);
          std::vector<double> want(static_cast<size_t>(n * k), 0);
          for (int64_t r = 0; r < rows; ++r)
            for (int64_t i = 0; i < n; ++i)
              for (int64_t j = 0; j < k; ++j)
                want[static_cast<size_t>(i * k + j)] += double{a[static_cast<size_t>(r * n + i)]} *
                                                        double{b[static_cast<size_t>(r * k + j)]};
          std::vector<float> z(static_cast<size_t>(n * k + 1), -7);
          sum_of_outer_products(a.data(), b.data(), rows, n, k, 0, n / 2, z.data());
          sum_of_outer_products(a.data(), b.data(), rows, n, k, n / 2, n, z.data());
          EXPECT_EQ(z.back(), -7);
          z.pop_back();
          EXPECT_LT(error(z, want), kTolerance) << hwy::TargetName(target) << " " << n << "x" << k;
          cases += 3;
        }
    names += fmt::format(" {}", hwy::TargetName(target));
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  std::cout << cases << " cases on" << names << "\n";
  EXPECT_GE(targets.size(), 2U);
  EXPECT_GE(cases, 2 * 378);
}

class GroupedMatmulInAProgram : public pjrt::OnEngine {
 protected:
  static std::vector<float> run(const pjrt::Client& client, const std::vector<float>& x,
                                const Matrices& w, const std::vector<int32_t>& sizes, int64_t rows,
                                bool transposed) {
    const int64_t ins = transposed ? w.n : w.k, outs = transposed ? w.k : w.n;
    const DType type = w.stored == Stored::kF32    ? DType::kF32
                       : w.stored == Stored::kBF16 ? DType::kBF16
                                                   : DType::kF16;
    const Type xt{DType::kF32, {rows, ins}}, wt{type, {w.groups, w.n, w.k}};
    const Type st{DType::kS32, {static_cast<int64_t>(sizes.size())}}, yt{DType::kF32, {rows, outs}};
    const std::string module = fmt::format(
        "module @m {{ func.func public @main(%x: {0}, %w: {1}, %s: {2}) -> {3} {{\n"
        "%0 = stablehlo.custom_call @hone_grouped_matmul(%x, %w, %s) {{api_version = 4 : i32, "
        "backend_config = {{transposed = {4} : i64}}}} : ({0}, {1}, {2}) -> {3}\n"
        "return %0 : {3} }} }}",
        xt.str(), wt.str(), st.str(), yt.str(), transposed ? 1 : 0);
    const auto in = client.to_device<float>(xt.dims, x);
    const auto matrices = client.to_device(wt, w.bytes);
    const auto of_groups = client.to_device<int32_t>(st.dims, sizes);
    return pjrt::to_host<float>(client.compile(module).execute({in, matrices, of_groups})[0]);
  }
};
INSTANTIATE_TEST_SUITE_P(Cpu, GroupedMatmulInAProgram, testing::ValuesIn(pjrt::kEngines),
                         pjrt::engine_name);

TEST_P(GroupedMatmulInAProgram, EqualsTheScalarReference) {
  const pjrt::Client c = client();
  for (const Kernel& k : kernels()) pjrt::register_custom_call(c.plugin(), k.name, k.handler);
  Random random(2);
  const std::pair<int64_t, std::vector<int32_t>> cases[] = {
      {8, {0, 1, 0, 5, 2}}, {8, {0, 0, 0, 0, 8}}, {40, {7, 0, 30, 1, 2}},
      {9, {1, 1, 0, 0, 3}}, {6, {4, 9, 9, 0, 1}}, {6, {-2, 3, 0, 0, 3}}};
  for (const auto& [rows, sizes] : cases)
    for (const Stored stored : kAll)
      for (const bool transposed : {false, true}) {
        const Matrices w(5, 300, 260, stored, random);  // several tasks a group
        const auto x = rows_of(rows, transposed ? 300 : 260, random);
        EXPECT_LT(
            error(run(c, x, w, sizes, rows, transposed), reference(x, w, sizes, rows, transposed)),
            kTolerance)
            << rows << " rows in " << fmt::format("{}", sizes);
      }
}

TEST_P(GroupedMatmulInAProgram, OuterProductsEqualTheScalarReference) {
  const pjrt::Client c = client();
  for (const Kernel& k : kernels()) pjrt::register_custom_call(c.plugin(), k.name, k.handler);
  constexpr int64_t kRows = 9, kN = 130, kK = 300, kGroups = 4;
  const auto program = c.compile(
      "module @m { func.func public @main(%a: tensor<9x130xf32>, %b: tensor<9x300xf32>, "
      "%s: tensor<4xi32>) -> tensor<4x130x300xf32> {\n"
      "%0 = stablehlo.custom_call @hone_grouped_outer(%a, %b, %s) {api_version = 4 : i32} : "
      "(tensor<9x130xf32>, tensor<9x300xf32>, tensor<4xi32>) -> tensor<4x130x300xf32>\n"
      "return %0 : tensor<4x130x300xf32> } }");
  Random random(5);
  const std::vector<float> a = rows_of(kRows, kN, random), b = rows_of(kRows, kK, random);
  for (const std::vector<int32_t>& sizes :
       {std::vector<int32_t>{3, 0, 5, 1}, {0, 9, 0, 0}, {2, -1, 40, 3}, {1, 1, 1, 1}}) {
    std::vector<double> want(static_cast<size_t>(kGroups * kN * kK), 0);
    int64_t r = 0;
    for (int64_t g = 0; g < kGroups; ++g)
      for (int32_t i = 0; i < sizes[static_cast<size_t>(g)] && r < kRows; ++i, ++r)
        for (int64_t x = 0; x < kN; ++x)
          for (int64_t y = 0; y < kK; ++y)
            want[static_cast<size_t>((g * kN + x) * kK + y)] +=
                double{a[static_cast<size_t>(r * kN + x)]} *
                double{b[static_cast<size_t>(r * kK + y)]};
    const auto left = c.to_device<float>({kRows, kN}, a),
               right = c.to_device<float>({kRows, kK}, b);
    const auto of_groups = c.to_device<int32_t>({kGroups}, sizes);
    EXPECT_LT(error(pjrt::to_host<float>(program.execute({left, right, of_groups})[0]), want),
              kTolerance)
        << fmt::format("{}", sizes);
  }
}

TEST_P(GroupedMatmulInAProgram, RefusesOtherShapes) {
  const pjrt::Client c = client();
  for (const Kernel& k : kernels()) pjrt::register_custom_call(c.plugin(), k.name, k.handler);
  Random random(3);
  const Matrices w(2, 4, 6, Stored::kF32, random);
  EXPECT_THROW(run(c, rows_of(3, 6, random), w, {1, 1, 1}, 3, false), pjrt::Error);
}

}  // namespace
}  // namespace hone::kernels
