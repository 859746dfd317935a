// Ten updates by every optimiser against PyTorch, transformers and bitsandbytes
// (tools/golden_optim.py).
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "base/json.h"
#include "engine/program.h"
#include "engine/weights.h"
#include "nn/dynamic_map.h"
#include "ops/ops.h"
#include "train/block_codes.h"
#include "train/golden_tensors.h"
#include "train/optimizer.h"

namespace hone::train {
namespace {

constexpr size_t kCases = 38;  // optimiser, decay and shape

// The weights are of the order of one and an update of 1e-2, so that f32 rounds to about 1e-7.
constexpr double kTolerance = 1e-6;
// PyTorch orthogonalises in bfloat16, which rounds an element of about 0.3 by 6e-4: a step of
// 0.2 sqrt(12) 1e-2 is off by 1e-5, the polynomial magnifies it, and ten add up. 2.3e-4 was seen.
constexpr double kBf16Tolerance = 1e-3;

const engine::Device& device() {
  static const engine::Device d = engine::Device::open();
  return d;
}

// One weight and an optimiser's state of it, updated by a program.
class Weight {
 public:
  Weight(const OptimRecipe& recipe, double decay, const Type& type, std::vector<float> start)
      : recipe_(recipe), type_(type), program_(build(decay)) {
    state_["weight"] =
        device().client().to_device<float>(type.dims, std::span(std::as_const(start)));
    for (const Optimizer::Slot& s : optimizer().slots(recipe_, type_))
      state_[std::string(s.name)] = engine::filled(device(), s.type, s.start);
  }

  void update(const std::vector<float>& gradient, double lr, int64_t step) {
    engine::Buffers in;
    const pjrt::Client& client = device().client();
    in["gradient"] = client.to_device<float>(type_.dims, std::span(gradient));
    std::vector<double> scalars = optimizer().numbers(recipe_, step);
    scalars.insert(scalars.begin(), lr);
    const std::vector<float> f(scalars.begin(), scalars.end());
    in["scalars"] = client.to_device<float>({static_cast<int64_t>(f.size())}, std::span(f));
    std::vector<pjrt::Buffer> outs = program_.run([&](const std::string& name) -> pjrt::Arg {
      const auto it = in.find(name);
      return it != in.end() ? it->second : state_.at(name);
    });
    for (size_t i = 0; i < names_.size(); ++i) state_[names_[i]] = std::move(outs[i]);
  }

  template <class T>
  std::vector<T> values(const std::string& name) const {
    return pjrt::to_host<T>(state_.at(name));
  }

 private:
  const Optimizer& optimizer() const { return optimizer_of(recipe_.kind); }

  engine::Program build(double decay) {
    Graph g;
    Optimizer::Now now{.weight = g.parameter("weight", type_),
                       .gradient = g.parameter("gradient", type_),
                       .slots = {},
                       .lr = {},
                       .decay = decay,
                       .numbers = {}};
    const auto count = static_cast<int64_t>(optimizer().numbers(recipe_, 1).size());
    const Value scalars = g.parameter("scalars", {DType::kF32, {count + 1}});
    for (int64_t i = 0; i <= count; ++i)
      now.numbers.push_back(reshape(slice(scalars, 0, i, i + 1), {}));
    now.lr = now.numbers.front();
    now.numbers.erase(now.numbers.begin());
    names_ = {"weight"};
    for (const Optimizer::Slot& s : optimizer().slots(recipe_, type_)) {
      now.slots.push_back(g.parameter(std::string(s.name), s.type));
      names_.emplace_back(s.name);
    }
    const Optimizer::Update next = optimizer().update(recipe_, now);
    Values outs = next.slots;
    outs.insert(outs.begin(), next.weight);
    for (size_t i = 1; i < outs.size(); ++i)
      EXPECT_EQ(outs[i].type(), now.slots[i - 1].type()) << names_[i];
    return engine::Program(device(), g, outs);
  }

  OptimRecipe recipe_;
  Type type_;
  std::vector<std::string> names_;
  engine::Program program_;
  engine::Buffers state_;
};

template <class T>
double worst_difference(const std::vector<T>& got, const std::vector<T>& want) {
  EXPECT_EQ(got.size(), want.size());
  double worst = 0;
  for (size_t i = 0; i < want.size(); ++i) {
    const double d = std::abs(static_cast<double>(got[i]) - static_cast<double>(want[i]));
    worst = d <= worst ? worst : d;  // a NaN is the worst
  }
  return worst;
}

size_t count_of_different(const std::vector<uint8_t>& a, const std::vector<uint8_t>& b) {
  size_t n = 0;
  for (size_t i = 0; i < a.size(); ++i) n += a[i] != b[i];
  return n;
}

struct Golden {
  ckpt::Safetensors tensors{kGolden / "optimizers.safetensors"};
  nlohmann::json json = read_json(kGolden / "optimizers.json");
};

OptimRecipe recipe_of(const nlohmann::json& c) {
  OptimRecipe r;
  r.kind = c["kind"];
  r.betas = c["betas"];
  r.eps = c["eps"];
  return r;
}

// The same bytes, unless a share lies so near the middle of two entries that f32's last bit
// decides.
void check_codes(const Golden& golden, const std::string& prefix, const Weight& w) {
  size_t different = 0, all = 0;
  for (const char* slot : {"m", "v"}) {
    const auto want = golden_values<uint8_t>(golden.tensors, prefix + slot);
    const auto got = w.values<uint8_t>(slot);
    ASSERT_EQ(got.size(), want.size());
    EXPECT_LE(worst_difference(got, want), 1) << prefix << slot;
    different += count_of_different(got, want);
    all += want.size();
    const std::string largest = std::string(slot) + "_largest";
    const auto most = golden_values<float>(golden.tensors, prefix + largest);
    EXPECT_LE(worst_difference(w.values<float>(largest), most), 1e-6) << prefix << largest;
  }
  std::printf("%s %zu of %zu codes differ\n", prefix.c_str(), different, all);
  EXPECT_LE(different, all / 1000);
}

void check_updates(const Golden& golden, const nlohmann::json& c, const std::string& shape) {
  const std::string name = c["name"], prefix = fmt::format("{}/{}/", name, shape);
  SCOPED_TRACE(prefix);
  const ckpt::TensorView& start = golden_tensor(golden.tensors, "weight/" + shape);
  Weight weight(recipe_of(c), c["weight_decay"], start.type,
                golden_values<float>(golden.tensors, start.name));
  const auto gradient = golden_values<float>(golden.tensors, "gradient/" + shape);
  const size_t shift = golden.json["shift"];
  double worst = 0;
  for (size_t i = 0; i < golden.json["updates"]; ++i) {
    std::vector<float> now(gradient.size());
    for (size_t j = 0; j < now.size(); ++j) now[j] = gradient[(j + shift * i) % now.size()];
    weight.update(now, golden.json["rates"][i], static_cast<int64_t>(i) + 1);
    const std::string after = prefix + std::to_string(i + 1);
    if (shape == "large" && golden.tensors.find(after) == nullptr) continue;  // the first and last
    const auto want = golden_values<float>(golden.tensors, after);
    worst = std::max(worst, worst_difference(weight.values<float>("weight"), want));
  }
  std::printf("%-28s within %.1e\n", prefix.c_str(), worst);
  EXPECT_LE(worst, name.starts_with("muon_bf16") ? kBf16Tolerance : kTolerance);
  if (shape == "large") check_codes(golden, prefix, weight);
}

TEST(OptimizerGolden, TenUpdatesEqualTheReferences) {
  const Golden golden;
  std::set<std::string> kinds;
  size_t cases = 0;
  for (const nlohmann::json& c : golden.json["cases"]) {
    kinds.insert(c["kind"]);
    for (const std::string shape : c["shapes"]) {
      check_updates(golden, c, shape);
      ++cases;
    }
  }
  std::printf("%zu cases of %zu optimisers\n", cases, kinds.size());
  EXPECT_GE(cases, kCases);
  EXPECT_EQ(kinds.size(), optimizers().size());
}

TEST(OptimizerGolden, MapsEqualBitsandbytes) {
  const Golden golden;
  for (const bool with_sign : {false, true}) {
    const auto map = nn::dynamic_map(with_sign);
    const std::vector<float> got(map.begin(), map.end());
    EXPECT_EQ(got, golden_values<float>(golden.tensors, with_sign ? "map/signed" : "map/unsigned"));
  }
}

}  // namespace
}  // namespace hone::train
