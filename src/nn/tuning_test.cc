// Which modules a name, an expression or a pattern means: the cases of PEFT's own rules.
#include "nn/tuning.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "nn/module_names.h"

namespace hone::nn {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

struct NameCase {
  const char *name, *path;
  bool matches;
};
constexpr NameCase kNames[] = {
    {"q_proj", "model.layers.0.self_attn.q_proj", true},
    {"self_attn.q_proj", "model.layers.0.self_attn.q_proj", true},
    {"model.layers.0.self_attn.q_proj", "model.layers.0.self_attn.q_proj", true},
    {"proj", "model.layers.0.self_attn.q_proj", false},
    {"q_proj", "model.layers.0.self_attn.q_proj.inner", false},
    {"model.layers.0.self_attn", "model.layers.0.self_attn.q_proj", false},
    {"q_proj", "q_proj", true},
    {"lm-head", "lm-head", true},
    {"", "a", false},
    {".*\\.q_proj", "model.layers.0.self_attn.q_proj", true},
    {".*\\.(q|v)_proj", "model.layers.7.self_attn.v_proj", true},
    {".*\\.(q|v)_proj", "model.layers.7.self_attn.k_proj", false},
    {"model\\.layers\\.[0-3]\\..*", "model.layers.3.mlp.up_proj", true},
    {"model\\.layers\\.[0-3]\\..*", "model.layers.13.mlp.up_proj", false},
    {"(?:q_proj)", "model.q_proj", false},  // of whole paths
    {"(?:.*\\.)?(?:layers.1.*)", "model.layers.17.mlp.up_proj", true},
};

TEST(ModuleNames, MeanTheseModules) {
  size_t cases = 0;
  for (const NameCase& c : kNames) {
    EXPECT_EQ(names_module(c.name, c.path), c.matches) << c.name << " of " << c.path;
    ++cases;
  }
  EXPECT_GE(cases, 16U);
  EXPECT_TRUE(names_module(as_expression("q_proj"), "q_proj"));
  EXPECT_FALSE(names_module(as_expression("q_proj"), "a.q_proj"));
  EXPECT_TRUE(names_module(as_end("a+b"), "x.a+b"));
  EXPECT_FALSE(names_module(as_end("a+b"), "x.aab"));
}

TEST(ModuleNames, BadExpressionsAreOneLine) {
  for (const char* bad : {"(", "a{2,1}", "(?<=a)b", "(a)\\1", "[z-a]"})
    EXPECT_THAT([&] { names_module(bad, "a"); },
                ThrowsMessage<ConfigError>(HasSubstr("no regular expression")));
}

TEST(Lora, ParametersAreNamedApartFromLayers) {
  const std::string path = "model.layers.3.mlp.experts.down_proj";
  EXPECT_FALSE(Lora{}.at_parameter(path));  // all-linear
  EXPECT_FALSE(Lora{.targets = {"down_proj"}}.at_parameter(path));
  const Lora lora{.rank = 4,
                  .alpha = 8,
                  .exclude = {"down_proj"},
                  .parameters = {"experts.down_proj"},
                  .layers = {1},
                  .others = {{"layers.3.mlp.experts.down_proj", 2, std::nullopt}}};
  ASSERT_TRUE(lora.at_parameter(path));
  EXPECT_EQ(lora.at_parameter(path)->rank, 2);
  EXPECT_EQ(lora.at_parameter(path)->scale, 4);
  EXPECT_FALSE(lora.at_parameter("model.layers.3.mlp.down_proj"));
  EXPECT_FALSE((Tuning{.lora = lora, .whole = {"experts"}}).adapter_at_parameter(path));
}

struct LoraCase {
  Lora lora;
  const char* path;
  int64_t rank;  // 0: no adapter
  double scale;
};

TEST(Lora, RanksTargetsAndLayers) {
  const char* q3 = "model.layers.3.self_attn.q_proj";
  const Lora::Other q{"q_proj", 4, 8.0}, third{"model\\.layers\\.3\\..*", 2, std::nullopt},
      alpha{"q_proj", std::nullopt, 64.0};
  const LoraCase cases[] = {
      {{}, q3, 16, 2},
      {{}, "lm_head", 0, 0},
      {{.targets = {"lm_head"}}, "lm_head", 16, 2},
      {{.targets = {"v_proj"}}, q3, 0, 0},
      {{.rank_stabilised = true}, q3, 16, 8},
      {{.exclude = {"q_proj"}}, q3, 0, 0},
      {{.exclude = {".*layers\\.2\\..*"}}, q3, 16, 2},
      {{.layers = {3}}, q3, 16, 2},
      {{.layers = {2}}, q3, 0, 0},
      {{.layers = {3}, .layer_lists = {"layers"}}, q3, 16, 2},
      {{.layers = {3}, .layer_lists = {"h"}}, q3, 0, 0},
      {{.layers = {3}}, "lm_tail", 0, 0},
      {{.others = {q}}, q3, 4, 2},
      {{.others = {q}}, "model.layers.3.self_attn.k_proj", 16, 2},
      {{.others = {third, q}}, q3, 2, 4},  // the first of each: rank 2, alpha 8
      {{.others = {q, third}}, q3, 4, 2},
      {{.others = {alpha, q}}, q3, 4, 16},
      {{.rank_stabilised = true, .others = {q}}, q3, 4, 4},
  };
  size_t count = 0;
  for (const LoraCase& c : cases) {
    const auto at = c.lora.at(c.path);
    EXPECT_EQ(at ? at->rank : 0, c.rank) << count;
    EXPECT_DOUBLE_EQ(at ? at->scale : 0, c.scale) << count;
    ++count;
  }
  EXPECT_GE(count, 18U);
}

TEST(Tuning, WholeModulesHoldWhatIsInThemAndHaveNoAdapter) {
  const Tuning t{.lora = Lora{}, .whole = {"lm_head", "model.layers.1", "norm"}};
  EXPECT_TRUE(t.trains("lm_head"));
  EXPECT_TRUE(t.trains("model.layers.1.mlp.up_proj"));
  EXPECT_TRUE(t.trains("model.norm"));
  EXPECT_FALSE(t.trains("model.layers.11.mlp.up_proj"));
  EXPECT_FALSE(t.trains("model.layers.0.input_layernorm"));
  EXPECT_FALSE(t.adapter_at("model.layers.1.mlp.up_proj"));
  EXPECT_TRUE(t.adapter_at("model.layers.0.mlp.up_proj"));
  EXPECT_TRUE(Tuning{.whole = {"all"}}.trains("model.embed_tokens"));
}

}  // namespace
}  // namespace hone::nn
