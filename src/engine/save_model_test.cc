// A model that was trained whole, saved and opened again.
#include "engine/save_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/json.h"
#include "engine/language.h"
#include "engine/logits.h"

namespace hone::engine {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::ThrowsMessage;

const nn::Tuning kAll{.lora = {}, .whole = {"all"}};

struct TempFolder {
  fs::path path = fs::path(testing::TempDir()) / fmt::format("hone_saved_{}", getpid());
  ~TempFolder() { fs::remove_all(path); }
};

// Adds to every weight, so that what is saved is not what was there.
void change(Model& m) {
  for (auto& [name, buffer] : m.trained) {
    std::vector<float> v = pjrt::to_host<float>(buffer);
    for (size_t i = 0; i < v.size(); ++i) v[i] += 0.01F * static_cast<float>(i % 7);
    buffer = m.device.client().to_device<float>(buffer.type().dims, std::span<const float>(v));
  }
}

TEST(SaveModel, OpensAgainWithTheSameLogits) {
  const std::vector<int32_t> tokens = {5, 17, 99, 3, 64};
  size_t cases = 0;
  for (const char* name : {"llama_tiny", "llama31_tiny", "llama_linear_tiny"})
    for (const size_t shard_bytes : {kShardBytes, size_t{30'000}}) {
      SCOPED_TRACE(fmt::format("{}, shards of {}", name, shard_bytes));
      const TempFolder folder;
      Model model = Model::open(fmt::format("tests/golden/{}", name), kAll, 0);
      EXPECT_TRUE(model.weights.empty());
      change(model);
      save_model(model, folder.path, shard_bytes);
      EXPECT_EQ(fs::exists(folder.path / "model.safetensors.index.json"),
                shard_bytes < kShardBytes);
      const Model again = Model::open(folder.path.string(), std::nullopt);
      EXPECT_EQ(logits(again, tokens), logits(model, tokens));
      EXPECT_EQ(read_json(folder.path / "config.json")["dtype"], "float32");
      ++cases;
    }
  EXPECT_EQ(cases, 6U);
}

// Layer scalars are a part of the model that nobody trains, towers one that nobody runs.
TEST(SaveModel, ConstantsAndTowersAreInTheFolder) {
  const std::vector<int32_t> tokens = {5, 17, 99, 3, 64};
  const std::pair<const char*, size_t> models[] = {{"gemma4_tiny", 16}, {"gemma3_tiny", 34}};
  for (const auto& [name, towers] : models) {
    SCOPED_TRACE(name);
    const TempFolder folder;
    Model model = Model::open(fmt::format("tests/golden/{}", name), kAll, 0);
    change(model);
    save_model(model, folder.path);
    const Model again = Model::open(folder.path.string(), std::nullopt);
    EXPECT_EQ(logits(again, tokens), logits(model, tokens));
    EXPECT_EQ(again.files.towers().size(), towers);
    EXPECT_EQ(again.files.skipped(), model.files.skipped());
    EXPECT_THAT(again.warnings, testing::Contains(HasSubstr("only text is read")));
  }
}

TEST(SaveModel, AGgufFileBecomesAFolderWithItsTokenizer) {
  const TempFolder folder;
  const Model model = Model::open("smollm2-135m", kAll, 0);
  save_model(model, folder.path, size_t{200'000'000});
  const Model again = Model::open(folder.path.string(), std::nullopt);
  const Language before = Language::of(model.files), after = Language::of(again.files);
  const std::string text = "<|im_start|>user\nWhat is 2 + 2?<|im_end|>\n";
  const std::vector<int32_t> tokens = before.tokenizer.encode(text, false);
  EXPECT_EQ(after.tokenizer.encode(text, false), tokens);
  EXPECT_EQ(after.stop_tokens, before.stop_tokens);
  EXPECT_TRUE(after.chat.has_value());
  EXPECT_EQ(logits(again, tokens), logits(model, tokens));
}

TEST(SaveModel, RefusesAModelThatIsTrainedInPart) {
  const TempFolder folder;
  const Model model =
      Model::open("tests/golden/llama_tiny", nn::Tuning{.lora = {}, .whole = {"lm_head"}}, 0);
  EXPECT_THAT([&] { save_model(model, folder.path); },
              ThrowsMessage<ConfigError>(HasSubstr("is not trained")));
  EXPECT_FALSE(fs::exists(folder.path));
}

}  // namespace
}  // namespace hone::engine
