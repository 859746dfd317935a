// Configs of Gemma 4 that ask for what is not computed here: each stops, naming what it asks for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json.h"
#include "models/family.h"

namespace hone {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::ThrowsMessage;

json published(const std::string& size) {
  return read_json("tests/golden/gemma4_weights/" + size + ".json")["config"];
}

Architecture read(const json& config) {
  return read_architecture(family_of(config["model_type"].get<std::string>()), "config.json",
                           config);
}

struct Case {
  const char *size, *complaint;
  std::function<void(json& config, json& text)> change;
};

TEST(Gemma4Config, WhatIsNotComputedStopsTheLoad) {
  const Case cases[] = {
      {"31b", "\"text_config.query_pre_attn_scalar\"",
       [](json&, json& t) { t["query_pre_attn_scalar"] = 256; }},
      {"31b", "\"num_images\"", [](json& c, json&) { c["num_images"] = 1; }},
      {"31b", "no text_config", [](json&, json& t) { t = nullptr; }},
      {"31b", "use_bidirectional_attention",
       [](json&, json& t) { t["use_bidirectional_attention"] = "all"; }},
      {"31b", "tie_word_embeddings", [](json&, json& t) { t["tie_word_embeddings"] = false; }},
      {"31b", "hidden_activation", [](json&, json& t) { t["hidden_activation"] = "silu"; }},
      {"31b", "layer_types", [](json&, json& t) { t["layer_types"].erase(0); }},
      {"31b", "num_kv_shared_layers", [](json&, json& t) { t["num_kv_shared_layers"] = 20; }},
      {"31b", "lacks the full layer 5",
       [](json&, json& t) { t["per_layer_config"] = {{"11", {{"head_dim", 512}}}}; }},
      {"31b", "num_attention_heads 32",
       [](json&, json& t) { t["num_global_key_value_heads"] = 5; }},
      {"31b", "full_attention.beta",
       [](json&, json& t) { t["rope_parameters"]["full_attention"]["beta"] = 2; }},
      {"e2b", "leaves no full layer", [](json&, json& t) { t["num_kv_shared_layers"] = 31; }},
      {"e2b", "enable_moe_block",
       [](json&, json& t) {
         t.update({{"enable_moe_block", true},
                   {"num_experts", 8},
                   {"top_k_experts", 2},
                   {"moe_intermediate_size", 64}});
       }},
      {"26b_a4b", "top_k_experts", [](json&, json& t) { t["top_k_experts"] = 129; }},
      {"26b_a4b", "moe_intermediate_size",
       [](json&, json& t) { t.erase("moe_intermediate_size"); }},
  };
  size_t count = 0;
  for (const Case& c : cases) {
    SCOPED_TRACE(fmt::format("{}: {}", c.size, c.complaint));
    json config = published(c.size);
    EXPECT_NO_THROW(read(config));
    c.change(config, config["text_config"]);
    EXPECT_THAT([&] { read(config); }, ThrowsMessage<ConfigError>(HasSubstr(c.complaint)));
    ++count;
  }
  EXPECT_GE(count, 15U);
}

// Both ways of saying how the full layers differ.
TEST(Gemma4Config, FullLayersOneByOne) {
  json config = published("31b");
  json& text = config["text_config"];
  const ModelShape before = read(config).shape;
  text.erase("global_head_dim");
  text.erase("num_global_key_value_heads");
  for (int i = 5; i < 60; i += 6)
    text["per_layer_config"][std::to_string(i)] = {{"head_dim", 512}, {"num_key_value_heads", 4}};
  const ModelShape after = read(config).shape;
  ASSERT_EQ(after.kv.size(), 60U);
  for (size_t i = 0; i < after.kv.size(); ++i) {
    EXPECT_EQ(after.kv[i].heads, i % 6 == 5 ? 4 : 16);
    EXPECT_EQ(after.kv[i].head_dim, i % 6 == 5 ? 512 : 256);
    EXPECT_EQ(after.kv[i].heads, before.kv[i].heads);
  }
}

}  // namespace
}  // namespace hone
