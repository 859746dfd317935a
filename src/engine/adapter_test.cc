// PEFT's adapters of many kinds: the logits that PEFT computes with them, before and after hone has
// written them again.
#include "engine/adapter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstring>

#include "ckpt/safetensors.h"
#include "engine/logits.h"
#include "engine/model.h"

namespace hone::engine {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr double kTolerance = 1e-4;  // of the largest logit; both sides are f32
constexpr size_t kKinds = 7, kFamilies = 11;
const std::string kBase = "tests/golden/llama_tiny";
const fs::path kAdapters = "tests/golden/adapters";

template <class T>
std::vector<T> values(const ckpt::Safetensors& file, const char* name) {
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
  fs::path path = fs::path(testing::TempDir()) / fmt::format("hone_adapters_{}", getpid());
  ~TempFolder() { fs::remove_all(path); }
};

// PEFT's logits by the folder as it is, and as hone writes it again.
void check_adapter(const fs::path& folder, const std::string& base, const char* golden_file) {
  SCOPED_TRACE(folder.string());
  const TempFolder written;
  const ckpt::Safetensors golden(folder / golden_file);
  const auto tokens = values<int32_t>(golden, "tokens");
  const auto want = values<float>(golden, "logits");
  const Model first = Model::open(base, folder.string());
  const double error = worst(logits(first, tokens), want);
  EXPECT_LE(error, kTolerance);

  const Declarations declared(first.files, first.tuning);
  ckpt::write_peft(written.path, peft_of(*first.tuning.lora, first.trained, declared.params, base,
                                         first.adapter_config));
  const Model second = Model::open(base, written.path.string());
  EXPECT_LE(worst(logits(second, tokens), want), kTolerance);
  std::printf("  %-16s %.1e\n", folder.filename().c_str(), error);
}

TEST(Adapter, EveryKindGivesPeftsLogitsAndSurvivesARoundTrip) {
  size_t kinds = 0;
  for (const auto& entry : fs::directory_iterator(kAdapters)) {
    check_adapter(entry.path(), kBase, "logits.safetensors");
    ++kinds;
  }
  std::printf("%zu kinds\n", kinds);
  EXPECT_GE(kinds, kKinds);
}

TEST(Adapter, EveryFamilyGivesPeftsLogitsAndSurvivesARoundTrip) {
  size_t families = 0;
  for (const auto& entry : fs::directory_iterator("tests/golden/family_adapters")) {
    const std::string base = "tests/golden/" + entry.path().filename().string();
    check_adapter(entry.path(), base, "golden.safetensors");
    ++families;
  }
  std::printf("%zu families\n", families);
  EXPECT_GE(families, kFamilies);
}

TEST(Adapter, NamesThatMatchNothingAreNamed) {
  const std::pair<nn::Tuning, const char*> cases[] = {
      {{.lora = nn::Lora{.targets = {"q_proj", "query"}}}, "\"query\""},
      {{.lora = nn::Lora{.targets = {".*nothing.*"}}}, "\".*nothing.*\""},
      {{.lora = nn::Lora{.targets = {"q_proj"}, .others = {{"k_proj", 2, {}}}}}, "\"k_proj\""},
      {{.lora = nn::Lora{}, .whole = {"lm_heads"}}, "\"lm_heads\""},
      {{.lora = nn::Lora{.targets = {"lm_head"}}, .whole = {"lm_head"}}, "\"lm_head\""},
      {{.lora = nn::Lora{.targets = {"embed_tokens"}}}, "\"embed_tokens\""},
  };
  size_t count = 0;
  for (const auto& c : cases) {
    const std::string problem = fmt::format("{} matches no layer", c.second);
    auto open = [&] { Model::open(kBase, c.first, 0); };
    EXPECT_THAT(open, ThrowsMessage<ConfigError>(HasSubstr(problem)));
    ++count;
  }
  EXPECT_GE(count, 6U);
}

TEST(Adapter, DoraStartsAtTheLengthsOfTheRowsAsTheyAreHeld) {
  for (const char* store : {"f32", "nf4"}) {
    const nn::Tuning dora{.lora = nn::Lora{.rank = 2, .dora = true, .targets = {"q_proj"}}};
    const Model model = Model::open(kBase, dora, 0, store),
                plain = Model::open(kBase, {}, 0, store);
    const std::vector<int32_t> tokens = {3, 4, 5, 6};
    // B is zero and the magnitudes are the lengths, so that nothing changes.
    EXPECT_LE(worst(logits(model, tokens), logits(plain, tokens)), 1e-5) << store;
    EXPECT_EQ(model.trained.size(), 3U * 3);
  }
}

TEST(Adapter, WhatIsSavedWithATiedEmbeddingSaysSo) {
  const std::string tied = "tests/golden/llama31_tiny";
  const nn::Tuning tuning{.lora = nn::Lora{.rank = 2}, .whole = {"embed_tokens"}};
  const Model model = Model::open(tied, tuning, 0);
  const Declarations declared(model.files, model.tuning);
  ckpt::PeftAdapter a = peft_of(*tuning.lora, model.trained, declared.params, tied);
  EXPECT_TRUE(a.ensure_weight_tying);
  EXPECT_THAT(a.modules_to_save, ElementsAre("embed_tokens"));
  EXPECT_NO_THROW(load_adapter(model.device, a, declared.params));
  a.ensure_weight_tying = false;
  EXPECT_THAT([&] { load_adapter(model.device, a, declared.params); },
              ThrowsMessage<ConfigError>(HasSubstr("ensure_weight_tying")));
}

TEST(Adapter, KeysThatNobodyKnowsAreKeptAndWarnedAbout) {
  const TempFolder folder;
  ckpt::PeftAdapter a = ckpt::read_peft(kAdapters / "dora");
  a.config["from_the_future"] = {{"x", 1}};
  ckpt::write_peft(folder.path, a);
  const Model model = Model::open(kBase, folder.path.string());
  ASSERT_EQ(model.warnings.size(), 1U);
  EXPECT_THAT(model.warnings[0], HasSubstr("from_the_future"));
  EXPECT_EQ(model.adapter_config["from_the_future"]["x"], 1);
}

TEST(Adapter, PathsAreWrittenWhereEndsWouldMeanMore) {
  const nn::Tuning tuning{.lora =
                              nn::Lora{.rank = 2,
                                       .targets = {"model\\.layers\\.[01]\\..*q_proj", "v_proj"},
                                       .others = {{".*layers\\.1.*v_proj", 4, 8.0}}}};
  const Model model = Model::open(kBase, tuning, 0);
  const Declarations declared(model.files, model.tuning);
  const ckpt::PeftAdapter a = peft_of(*tuning.lora, model.trained, declared.params, kBase);
  EXPECT_EQ(a.targets.names.size(), 5U);
  EXPECT_FALSE(a.targets.expression);
  EXPECT_EQ(a.rank_pattern,
            (std::map<std::string, int64_t>{{"model.layers.1.self_attn.v_proj", 4}}));
  EXPECT_EQ(a.alpha_pattern,
            (std::map<std::string, double>{{"model.layers.1.self_attn.v_proj", 8}}));
}

}  // namespace
}  // namespace hone::engine
