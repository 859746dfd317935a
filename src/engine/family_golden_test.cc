// Each family's tiny random model against the values of the reference implementation, layer by
// layer, so that the first wrong layer is the first line that fails.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstring>

#include "base/json.h"
#include "ckpt/safetensors.h"
#include "engine/adapter.h"
#include "engine/forward.h"
#include "engine/logits.h"
#include "engine/program.h"
#include "ops/ops.h"

namespace hone::engine {
namespace {

constexpr double kTolerance = 1e-4;  // relative to the layer's largest value; both sides are f32
constexpr size_t kFloor = 17;        // models

const std::filesystem::path kGolden = "tests/golden";

const Device& device() {
  static const Device d = Device::open();
  return d;
}

std::vector<float> floats(const ckpt::Safetensors& file, const std::string& name) {
  const ckpt::TensorView* t = file.find(name);
  if (t == nullptr || t->type.dtype != DType::kF32) throw FileError("golden has no {}", name);
  std::vector<float> v(static_cast<size_t>(t->type.size()));
  std::memcpy(v.data(), t->bytes.data(), t->bytes.size());
  return v;
}

std::vector<int32_t> tokens_of(const ckpt::Safetensors& file) {
  const ckpt::TensorView* t = file.find("tokens");
  std::vector<int32_t> v(static_cast<size_t>(t->type.size()));
  std::memcpy(v.data(), t->bytes.data(), t->bytes.size());
  return v;
}

// Largest difference, as a share of the largest value.
double worst(std::span<const float> got, std::span<const float> want) {
  if (got.size() != want.size()) return INFINITY;
  double difference = 0, size = 1e-30;
  for (size_t i = 0; i < got.size(); ++i) {
    difference = std::max(difference, static_cast<double>(std::abs(got[i] - want[i])));
    size = std::max(size, static_cast<double>(std::abs(want[i])));
  }
  return difference / size;
}

void check_model(const std::string& name) {
  SCOPED_TRACE(name);
  const ModelFiles files(kGolden / name);
  const ckpt::Safetensors golden(kGolden / (name + ".safetensors"));
  const std::vector<int32_t> tokens = tokens_of(golden);
  const Dims dims = golden.find("tokens")->type.dims;

  Graph g;
  nn::Params params{.graph = g};
  const Value ids = g.parameter("tokens", {DType::kS32, dims});
  const Decoder d = files.build(nn::Scope(params));
  const Value positions = iota(g, dims, 1, DType::kS32);
  const auto ctx = nn::Context::of_sequences(positions, constant_like(positions, 1));
  std::vector<std::string> names{"model.embed_tokens"};
  Values state = d.embed(ids), outs{state[0]};
  for (size_t i = 0; i < d.layers.size(); ++i) {
    names.push_back(fmt::format("model.layers.{}", i));
    state = d.layers[i](state, ctx);
    outs.push_back(state[0]);
  }
  names.push_back("model.norm");
  outs.push_back(d.norm(outs.back()));
  names.push_back("logits");
  outs.push_back(d.head(outs.back()));

  const Program program(device(), g, outs);
  const Buffers weights = load_weights(device(), files, params);
  const pjrt::Buffer input = device().client().to_device<int32_t>(dims, std::span(tokens));
  const auto results = program.run(
      [&](const std::string& p) -> pjrt::Arg { return p == "tokens" ? input : weights.at(p); });
  for (size_t i = 0; i < names.size(); ++i) {
    const double error = worst(pjrt::to_host<float>(results[i]), floats(golden, names[i]));
    EXPECT_LE(error, kTolerance) << names[i];
    std::printf("  %-20s %.1e\n", names[i].c_str(), error);
  }
}

TEST(FamilyGolden, EveryLayerEqualsTheReference) {
  size_t models = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kGolden))
    if (std::filesystem::exists(entry.path() / "config.json")) {
      std::printf("%s\n", entry.path().filename().c_str());
      check_model(entry.path().filename());
      ++models;
    }
  std::printf("%zu models\n", models);
  EXPECT_GE(models, kFloor);
}

TEST(FamilyGolden, OlderConfigKeysMeanTheSame) {
  for (const char* name : {"llama_tiny", "llama31_tiny", "llama_linear_tiny"}) {
    const ModelFiles files(kGolden / name);
    Graph a, b;
    nn::Params now{.graph = a}, older{.graph = b};
    const nlohmann::json old_config = read_json(kGolden / name / "config_v4.json");
    Values tokens{a.parameter("t", {DType::kS32, {1, 4}}), b.parameter("t", {DType::kS32, {1, 4}})};
    auto text = [&](Graph& g, nn::Params& params, const nlohmann::json& config, Value ids) {
      const Decoder d =
          read_architecture(files.family(), "config.json", config).build(nn::Scope(params));
      const Value p = iota(g, {1, 4}, 1, DType::kS32);
      return emit(g, {{sequence_states(d, ids, p, constant_like(p, 1))}});
    };
    EXPECT_EQ(text(a, now, files.config(), tokens[0]), text(b, older, old_config, tokens[1]));
  }
}

TEST(FamilyGolden, AnAdapterOfPeftGivesPeftsLogits) {
  const Model model =
      Model::open((kGolden / "llama_tiny").string(), (kGolden / "adapter_tiny").string());
  const ckpt::Safetensors golden(kGolden / "adapter_tiny.safetensors");
  const std::vector<int32_t> tokens = tokens_of(golden);
  const std::vector<float> want = floats(golden, "logits");
  for (size_t row = 0; row < 2; ++row) {
    const std::vector<float> got = logits(model, std::span(tokens).subspan(row * 12, 12));
    EXPECT_LE(worst(got, std::span(want).subspan(row * got.size(), got.size())), kTolerance);
  }
}

TEST(Adapter, SavedAndReadAgainIsTheSame) {
  const ckpt::PeftAdapter before = ckpt::read_peft(kGolden / "adapter_tiny");
  const auto folder =
      std::filesystem::path(testing::TempDir()) / fmt::format("hone_adapter_{}", getpid());
  ckpt::write_peft(folder, before);
  const ckpt::PeftAdapter after = ckpt::read_peft(folder);
  EXPECT_EQ(before.rank, after.rank);
  EXPECT_EQ(before.alpha, after.alpha);
  EXPECT_EQ(before.targets, after.targets);
  ASSERT_EQ(before.tensors.size(), after.tensors.size());
  for (size_t i = 0; i < before.tensors.size(); ++i) {
    EXPECT_EQ(before.tensors[i].name, after.tensors[i].name);
    EXPECT_EQ(before.tensors[i].values, after.tensors[i].values);
  }
  std::filesystem::remove_all(folder);
}

TEST(Adapter, TensorsThatDoNotFitAreRefused) {
  const ModelFiles files(kGolden / "llama_tiny");
  const ckpt::PeftAdapter good = ckpt::read_peft(kGolden / "adapter_tiny");
  Graph g;
  nn::Params params{.graph = g, .tuning = tuning_of(good)};
  files.build(nn::Scope(params));

  ckpt::PeftAdapter missing = good, unused = good, wrong = good;
  missing.tensors.pop_back();
  unused.tensors.push_back({"model.layers.9.self_attn.q_proj.lora_A.weight", {4, 32}, {}});
  wrong.tensors.front().dims = {1, 1};
  for (const auto* bad : {&missing, &unused, &wrong})
    EXPECT_THROW(load_adapter(device(), *bad, params), ConfigError);
}

}  // namespace
}  // namespace hone::engine
