// Mixtures of experts: decoding with a cache, the ways that checkpoints hold experts, and PEFT's
// adapters on them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <fstream>

#include "base/json.h"
#include "ckpt/safetensors.h"
#include "engine/adapter.h"
#include "engine/generator.h"
#include "engine/logits.h"
#include "engine/model.h"

namespace hone::engine {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr double kTolerance = 1e-4;  // of the largest logit; both sides are f32
constexpr size_t kAdapterFloor = 4;
const fs::path kGolden = "tests/golden";
const char* const kModels[] = {"mixtral_tiny", "mixtral_fused_tiny", "qwen3_moe_tiny",
                               "qwen3_moe_fused_tiny"};

template <class T>
std::vector<T> values(const ckpt::Safetensors& file, const std::string& name) {
  const ckpt::TensorView* t = file.find(name);
  if (t == nullptr) throw FileError("golden has no {}", name);
  std::vector<T> v(t->bytes.size() / sizeof(T));
  std::memcpy(v.data(), t->bytes.data(), t->bytes.size());
  return v;
}

double worst(const std::vector<float>& got, const std::vector<float>& want) {
  if (got.size() != want.size()) return INFINITY;
  double difference = 0, size = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    difference = std::max(difference, static_cast<double>(std::abs(got[i] - want[i])));
    size = std::max(size, static_cast<double>(std::abs(want[i])));
  }
  return difference / size;
}

struct TempFolder {
  fs::path path = fs::path(testing::TempDir()) / fmt::format("hone_moe_{}", getpid());
  TempFolder() { fs::create_directories(path); }
  ~TempFolder() { fs::remove_all(path); }
};

// Greedy tokens by whole forward passes.
std::vector<int32_t> continued(const Model& model, std::vector<int32_t> tokens, int64_t count) {
  std::vector<int32_t> made;
  for (int64_t i = 0; i < count; ++i) {
    const std::vector<float> all = logits(model, tokens);
    const auto last = all.end() - model.files.shape().vocab;
    made.push_back(static_cast<int32_t>(std::max_element(last, all.end()) - last));
    tokens.push_back(made.back());
  }
  return made;
}

TEST(Moe, DecodingWithACacheEqualsWholeForwardPasses) {
  const std::vector<std::vector<int32_t>> prompts{{5, 17, 99, 4, 63}, {80}};  // one row is padded
  for (const char* name : kModels) {
    SCOPED_TRACE(name);
    const Model model = Model::open((kGolden / name).string(), std::nullopt);
    GenerateOptions options{.max_new_tokens = 10, .sampling = {}, .stop_tokens = {}};
    options.sampling.temperature = 0;
    const auto rows = Generator(model).run(prompts, options);
    for (size_t r = 0; r < prompts.size(); ++r)
      EXPECT_EQ(rows[r], continued(model, prompts[r], 10)) << "row " << r;
  }
}

TEST(Moe, AGgufFileGivesTransformersLogits) {
  for (const char* name : {"mixtral_tiny", "qwen3_moe_tiny"}) {
    const ckpt::Safetensors golden(kGolden / fmt::format("{}_gguf.safetensors", name));
    const Model model =
        Model::open((kGolden / fmt::format("{}.gguf", name)).string(), std::nullopt);
    EXPECT_EQ(model.files.family().model_type, std::string(name).substr(0, std::strlen(name) - 5));
    const double error =
        worst(logits(model, values<int32_t>(golden, "tokens")), values<float>(golden, "logits"));
    EXPECT_LE(error, kTolerance) << name;
    std::printf("  %-16s %.1e\n", name, error);
  }
}

// A checkpoint with experts that the config does not mention is for another config.
TEST(Moe, ExpertsThatTheConfigLacksAreNamed) {
  const TempFolder folder;
  fs::copy_file(kGolden / "mixtral_tiny" / "model.safetensors", folder.path / "model.safetensors");
  nlohmann::json config = read_json(kGolden / "mixtral_tiny" / "config.json");
  auto open_with = [&](int experts) {
    config["num_local_experts"] = experts;
    std::ofstream(folder.path / "config.json") << config;
    return Model::open(folder.path.string(), std::nullopt);
  };
  EXPECT_THAT([&] { open_with(5); }, ThrowsMessage<ConfigError>(HasSubstr("block_sparse_moe")));
  EXPECT_THAT([&] { open_with(3); }, ThrowsMessage<ConfigError>(HasSubstr("block_sparse_moe")));
}

TEST(Moe, ExpertsAreHeldAsTheyAreWhereLinearLayersAreQuantised) {
  for (const char* store : {"bf16", "int8"}) {
    const Model model = Model::open((kGolden / "mixtral_tiny").string(), std::nullopt, store);
    const auto& weight = model.weight("model.layers.0.mlp.experts.down_proj");
    EXPECT_EQ(weight.type().dtype, store == std::string("bf16") ? DType::kBF16 : DType::kF32);
    const std::vector<int32_t> tokens{5, 17, 99, 4};
    const auto exact =
        logits(Model::open((kGolden / "mixtral_tiny").string(), std::nullopt), tokens);
    EXPECT_LE(worst(logits(model, tokens), exact), 0.2) << store;
  }
}

TEST(ExpertAdapter, EveryKindGivesPeftsLogitsAndSurvivesARoundTrip) {
  const TempFolder written;
  size_t kinds = 0;
  for (const auto& entry : fs::directory_iterator(kGolden / "expert_adapters")) {
    const std::string kind = entry.path().filename();
    SCOPED_TRACE(kind);
    const ckpt::Safetensors golden(entry.path() / "golden.safetensors");
    const auto tokens = values<int32_t>(golden, "tokens");
    const auto want = values<float>(golden, "logits");
    const std::string base =
        (kGolden / read_json(entry.path() / "curve.json")["model"].get<std::string>()).string();
    const Model first = Model::open(base, entry.path().string());
    const double error = worst(logits(first, tokens), want);
    EXPECT_LE(error, kTolerance);

    const Declarations declared(first.files, first.tuning);
    const ckpt::PeftAdapter again =
        peft_of(*first.tuning.lora, first.trained, declared.params, base, first.adapter_config);
    ckpt::write_peft(written.path / kind, again);
    const ckpt::Safetensors before(entry.path() / "adapter_model.safetensors");
    const ckpt::Safetensors after(written.path / kind / "adapter_model.safetensors");
    ASSERT_EQ(before.tensors().size(), after.tensors().size());
    for (const ckpt::TensorView& t : before.tensors())
      EXPECT_EQ(values<float>(before, t.name), values<float>(after, t.name)) << t.name;
    const Model second = Model::open(base, (written.path / kind).string());
    EXPECT_EQ(second.tuning.lora->at("model.layers.0.self_attn.q_proj").has_value(),
              first.tuning.lora->at("model.layers.0.self_attn.q_proj").has_value());
    EXPECT_LE(worst(logits(second, tokens), want), kTolerance);
    std::printf("  %-12s %.1e\n", kind.c_str(), error);
    ++kinds;
  }
  std::printf("%zu kinds\n", kinds);
  EXPECT_GE(kinds, kAdapterFloor);
}

TEST(ExpertAdapter, WhatCannotBeIsRefused) {
  const std::pair<nn::Lora, const char*> cases[] = {
      {{.targets = {}, .parameters = {"experts.up_proj"}}, "\"experts.up_proj\""},
      {{.dora = true, .targets = {}, .parameters = {"experts.down_proj"}}, "DoRA"},
      {{.dropout = 0.1, .targets = {}, .parameters = {"experts.down_proj"}}, "dropout"},
  };
  for (const auto& [lora, problem] : cases)
    EXPECT_THAT(
        [&] { Model::open((kGolden / "mixtral_tiny").string(), nn::Tuning{.lora = lora}, 0); },
        ThrowsMessage<ConfigError>(HasSubstr(problem)));
}

}  // namespace
}  // namespace hone::engine
