// adapter_config.json: what is kept, what is refused, and that nothing is lost on the way.
#include "ckpt/peft.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/error.h"
#include "base/json.h"
#include "ckpt/peft_config.h"

namespace hone::ckpt {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

json minimal() {
  return {{"peft_type", "LORA"}, {"r", 4}, {"lora_alpha", 8}, {"target_modules", {"q_proj"}}};
}

PeftAdapter parse(const json& config) { return parse_peft_config(config, "adapter_config.json"); }

TEST(PeftConfig, KeepsEveryFieldItKnows) {
  json c = minimal();
  c.update({{"lora_dropout", 0.1},
            {"use_rslora", true},
            {"use_dora", true},
            {"exclude_modules", ".*layers\\.0\\..*"},
            {"rank_pattern", {{"q_proj", 2}}},
            {"alpha_pattern", {{"^model.*k_proj", 3.5}}},
            {"modules_to_save", {"lm_head"}},
            {"ensure_weight_tying", true},
            {"layers_to_transform", {1, 2}},
            {"layers_pattern", "layers"},
            {"base_model_name_or_path", "org/base"},
            {"revision", "main"},
            {"auto_mapping", nullptr},
            {"a_later_key", {{"x", 1}}}});
  const PeftAdapter a = parse(c);
  EXPECT_EQ(a.rank, 4);
  EXPECT_EQ(a.alpha, 8);
  EXPECT_EQ(a.dropout, 0.1);
  EXPECT_TRUE(a.rank_stabilised && a.dora && a.ensure_weight_tying);
  EXPECT_EQ(a.targets, (PeftModules{{"q_proj"}, false}));
  EXPECT_EQ(a.exclude, (PeftModules{{".*layers\\.0\\..*"}, true}));
  EXPECT_EQ(a.rank_pattern.at("q_proj"), 2);
  EXPECT_EQ(a.alpha_pattern.at("^model.*k_proj"), 3.5);
  EXPECT_THAT(a.modules_to_save, ElementsAre("lm_head"));
  EXPECT_THAT(a.layers, ElementsAre(1, 2));
  EXPECT_THAT(a.layer_lists, ElementsAre("layers"));
  EXPECT_EQ(a.base_model, "org/base");
  EXPECT_THAT(a.unknown_keys, ElementsAre("a_later_key"));

  const json written = peft_config(a);
  for (const auto& [key, value] : c.items())
    EXPECT_EQ(written.at(key), key == "layers_pattern" ? json{value} : value) << key;
  const PeftAdapter again = parse(written);
  EXPECT_EQ(peft_config(again), written);
}

TEST(PeftConfig, HasEveryKeyThatPeftWrites) {
  const char* keys[] = {
      "peft_type",
      "task_type",
      "base_model_name_or_path",
      "revision",
      "inference_mode",
      "auto_mapping",
      "peft_version",
      "r",
      "lora_alpha",
      "lora_dropout",
      "target_modules",
      "exclude_modules",
      "target_parameters",
      "modules_to_save",
      "bias",
      "fan_in_fan_out",
      "use_rslora",
      "use_dora",
      "lora_bias",
      "init_lora_weights",
      "rank_pattern",
      "alpha_pattern",
      "layers_to_transform",
      "layers_pattern",
      "layer_replication",
      "ensure_weight_tying",
      "trainable_token_indices",
      "megatron_config",
      "megatron_core",
      "loftq_config",
      "eva_config",
      "corda_config",
      "use_qalora",
      "qalora_group_size",
      "alora_invocation_tokens",
  };
  const json written = peft_config(parse(minimal()));
  size_t count = 0;
  for (const char* key : keys) {
    EXPECT_TRUE(written.contains(key)) << key;
    ++count;
  }
  EXPECT_EQ(count, 35U);
  EXPECT_TRUE(parse(written).unknown_keys.empty());
}

TEST(PeftConfig, RefusesWhatItCannotCompute) {
  const std::pair<const char*, json> bad[] = {
      {"peft_type", "IA3"},
      {"r", 0},
      {"r", "four"},
      {"lora_alpha", json::array()},
      {"lora_dropout", 1.5},
      {"target_modules", nullptr},
      {"target_modules", {1, 2}},
      {"rank_pattern", {{"q_proj", 0}}},
      {"rank_pattern", {1}},
      {"bias", "all"},
      {"lora_bias", true},
      {"fan_in_fan_out", true},
      {"layer_replication", {{0, 1}}},
      {"trainable_token_indices", {1}},
      {"target_parameters", "experts"},
      {"use_qalora", true},
      {"alora_invocation_tokens", {1}},
      {"use_bdlora", {{"nblocks", 2}}},
      {"init_lora_weights", "pissa"},
      {"init_lora_weights", "loftq"},
  };
  size_t count = 0;
  for (const auto& [key, value] : bad) {
    json c = minimal();
    c[key] = value;
    EXPECT_THROW(parse(c), ConfigError) << key << " " << value;
    ++count;
  }
  EXPECT_THROW(parse(json::array()), ConfigError);
  EXPECT_GE(count, 20U);
}

TEST(Peft, AFolderWithoutSafetensorsSaysSo) {
  const auto folder =
      std::filesystem::path(testing::TempDir()) / fmt::format("hone_peft_{}", getpid());
  PeftAdapter a = parse(minimal());
  a.tensors = {{"q_proj.lora_A.weight", {1, 2}, {1, 2}}};
  write_peft(folder, a);
  EXPECT_TRUE(std::filesystem::exists(folder / "README.md"));
  EXPECT_EQ(read_peft(folder).tensors.at(0).values, a.tensors[0].values);
  std::filesystem::rename(folder / "adapter_model.safetensors", folder / "adapter_model.bin");
  EXPECT_THAT([&] { read_peft(folder); }, ThrowsMessage<FileError>(HasSubstr("as safetensors")));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace hone::ckpt
