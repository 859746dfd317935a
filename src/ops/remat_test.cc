// A stack of layers three ways: unrolled, scanned, and with its inside computed again. Loss and
// gradients are equal; computing again takes less memory.
#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"
#include "ir/emit.h"
#include "ir/grad.h"
#include "ops/ops.h"
#include "pjrt/client.h"

namespace hone {
namespace {

constexpr int64_t kLayers = 12, kRows = 256, kWidth = 64;

enum class Form { kUnrolled, kCheckpointed, kScanned, kScannedAgain };

Value layer(Value x, Value w) {
  Value h = einsum("rd,de->re", x, w);
  for (int i = 0; i < 4; ++i) h = tanh(h + sin(h * 0.5));  // much to keep, if it is kept
  return x + einsum("re,de->rd", h, w);
}

struct Built {
  std::string module;
  int nodes;
};
Built build(Form form) {
  Graph g;
  const Value x = g.parameter("x", {DType::kF32, {kRows, kWidth}});
  const Value w = g.parameter("w", {DType::kF32, {kLayers, kWidth, kWidth}});
  Value y = x;
  if (form == Form::kScanned || form == Form::kScannedAgain) {
    const Remat remat = form == Form::kScanned ? Remat::kNone : Remat::kBlock;
    y = scan(
            g, kLayers, {x}, {w},
            [](const Values& c, const Values& s) -> ScanStep { return {{layer(c[0], s[0])}, {}}; },
            remat)
            .carry[0];
  } else {
    for (int64_t i = 0; i < kLayers; ++i) {
      const Value own = reshape(slice(w, 0, i, i + 1), {kWidth, kWidth});
      y = form == Form::kUnrolled
              ? layer(y, own)
              : checkpoint({y}, [&](const Values& v) { return layer(v[0], own); });
    }
  }
  const Value loss = sum(y * y, {0, 1}) / static_cast<double>(kRows * kWidth);
  const Values d = grad(loss, {{x, w}});
  return {emit(g, {{loss, d[0], d[1]}}), g.size()};
}

TEST(Remat, EqualLossAndGradientsInLessMemory) {
  const pjrt::Client client = pjrt::Client::create(pjrt::Plugin::load(pjrt::find_plugin()));
  Random random(1);
  std::vector<float> x(kRows * kWidth), w(kLayers * kWidth * kWidth);
  for (float& v : x) v = static_cast<float>(random.normal());
  for (float& v : w) v = static_cast<float>(random.normal() * 0.05);

  std::vector<std::vector<float>> first;
  std::vector<int64_t> temporaries;
  for (Form form : {Form::kUnrolled, Form::kCheckpointed, Form::kScanned, Form::kScannedAgain}) {
    const pjrt::Executable exe = client.compile(build(form).module);
    const auto stats = exe.memory_stats();
    ASSERT_TRUE(stats.has_value());
    temporaries.push_back(stats->temporaries);
    const pjrt::Buffer bx = client.to_device<float>({kRows, kWidth}, std::span<const float>(x));
    const pjrt::Buffer bw =
        client.to_device<float>({kLayers, kWidth, kWidth}, std::span<const float>(w));
    const auto outs = exe.execute({bx, bw});
    for (size_t i = 0; i < 3; ++i) {
      const std::vector<float> got = pjrt::to_host<float>(outs[i]);
      if (form == Form::kUnrolled) {
        first.push_back(got);
        continue;
      }
      double worst = 0, size = 0;
      for (size_t j = 0; j < got.size(); ++j) {
        worst = std::max(worst, static_cast<double>(std::abs(got[j] - first[i][j])));
        size = std::max(size, static_cast<double>(std::abs(first[i][j])));
      }
      EXPECT_LE(worst, 1e-5 * size) << "output " << i << " of form " << static_cast<int>(form);
    }
  }
  std::printf("temporaries: unrolled %lld, checkpointed %lld, scanned %lld, scanned again %lld\n",
              static_cast<long long>(temporaries[0]), static_cast<long long>(temporaries[1]),
              static_cast<long long>(temporaries[2]), static_cast<long long>(temporaries[3]));
  EXPECT_LT(temporaries[3], temporaries[0]);
  EXPECT_LT(temporaries[3], temporaries[2]);
  EXPECT_LT(temporaries[1], temporaries[0]);
}

// The sizes of the graphs are known numbers: a rule that builds more than it did shows here.
TEST(Remat, GraphSizesAreTheOnesWeKnow) {
  EXPECT_EQ(build(Form::kUnrolled).nodes, 831);
  EXPECT_EQ(build(Form::kScanned).nodes, 18);
}

}  // namespace
}  // namespace hone
