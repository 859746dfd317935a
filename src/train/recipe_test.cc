#include "train/recipe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>

namespace hone::train {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::StartsWith;

// The least that a recipe must say.
Recipe minimal() {
  Recipe r;
  r.model = "smollm2-135m";
  r.data.train = {{.path = "a.jsonl"}};
  return r;
}

std::string message_of(auto&& work) {
  try {
    work();
  } catch (const ConfigError& e) {
    return e.what();
  }
  return "";
}

std::string check_with(std::string_view override) {
  return message_of([&] {
    Recipe r = minimal();
    set_field(r, override);
    check_recipe(r);
  });
}

std::vector<std::string> split(std::string text, std::string_view by) {
  std::vector<std::string> parts;
  for (size_t at; (at = text.find(by)) != std::string::npos; text.erase(0, at + by.size()))
    parts.push_back(text.substr(0, at));
  parts.push_back(text);
  return parts;
}

TEST(Recipe, DefaultsAreUsableToday) {
  EXPECT_EQ(message_of([] { check_recipe(minimal()); }), "");
}

// Every choice that the schema names is either done or refused by name.
TEST(Recipe, RefusesWhatIsNotBuilt) {
  std::vector<std::string> overrides = {
      "data.packing=true",        "log.tensorboard=true",
      "log.metrics_port=9000",    "mesh.fsdp=2",
      "eval.samples=3",           "data.train=[{path: a, weight: 2}]",
      "mesh={data: 2, slices: 2}"};
  for (const FieldInfo& field : describe(Recipe{})) {
    if (!field.rule.contains(" | ")) continue;
    for (const std::string& choice : split(field.rule, " | ")) {
      const bool in_list = field.path == "data.train[].format";
      if (field.path == "data.eval[].format") continue;  // the same struct
      overrides.push_back(in_list ? "data.train=[{path: a, format: " + choice + "}]"
                                  : field.path + "=" + choice);
    }
  }
  std::set<std::string> refused;
  int done = 0;
  for (const std::string& text : overrides) {
    const std::string message = check_with(text);
    if (message.empty()) {
      ++done;
      continue;
    }
    EXPECT_THAT(message, StartsWith("recipe: ")) << text;
    EXPECT_THAT(message, HasSubstr(" is not built yet; use ")) << text;
    refused.insert(message);
  }
  std::printf("%d choices are built, %zu are not\n", done, refused.size());
  EXPECT_GE(done, 27);
  EXPECT_EQ(check_with("device=tpu"), "recipe: device: tpu is not built yet; use cpu");
  EXPECT_EQ(check_with("mesh={data: 1, tensor: 1}"), "");
}

TEST(Recipe, RefusesWhatDoesNotFitTogether) {
  const struct {
    const char *override, *message;
  } cases[] = {
      {"model=''", "recipe: model is missing; give one, as in model=smollm2-135m"},
      {"data.train=[]", "recipe: data.train is empty"},
      {"data.train=[{weight: 1}]", "recipe: data: an entry has no path"},
      {"data.eval=['']", "recipe: data: an entry has no path"},
      {"adapter.targets=[]", "recipe: adapter.targets is empty"},
      {"save.dir=''", "recipe: save.dir is empty"},
      {"length.epochs=null", "recipe: length: give epochs or steps"},
      {"batch.micro=3", "recipe: batch.sequences 8 is not a multiple of batch.micro 3"},
      {"batch.micro=0", "batch.micro: must be 1 to 1048576, found 0"},
      {"adapter.rank=0", "adapter.rank: must be 1 to 4096, found 0"},
      {"adapter.dropout=1", "adapter.dropout: must be 0 to 0.99, found 1"},
      {"optim.lr=-1", "optim.lr: must be 0 to 10, found -1"},
      {"optim.betas=[0.9, 1]", "optim.betas[1]: must be 0 to 0.999999, found 1"},
      {"optim.kind=adam", "did you mean \"adamw\"?"},
      {"optim.learning_rate=1", "optim: unknown key \"learning_rate\""},
      {"data.seq_len=4", "data.seq_len: must be 8 to 16777216, found 4"},
      {"length.steps=0", "length.steps: must be 1 to 1000000000, found 0"},
      {"log.metrics_port=65536", "log.metrics_port: must be 0 to 65535, found 65536"},
      {"seed=-1", "seed: must be at least 0, found -1"},
      {"device=cuda", "device: must be one of cpu | tpu | gpu, found \"cuda\""},
  };
  for (const auto& c : cases)
    EXPECT_THAT(check_with(c.override), HasSubstr(c.message)) << c.override;
  std::printf("%zu recipe errors\n", std::size(cases));
  EXPECT_GE(std::size(cases), 20u);
}

TEST(Recipe, ResolvedTextReadsBackEqual) {
  const std::vector<std::vector<const char*>> changes = {
      {},
      {"length.steps=100", "mesh.data=1", "compute=f32"},
      {"model=hf://org/name@main", "data.train=[{path: 'my chats.jsonl', weight: 0.1}, b.jsonl]",
       "data.eval=c.jsonl", "adapter.targets=[q_proj, v_proj]", "optim.betas=[0.8, 0.95]"},
      {"save.dir=\"a\\\"b\\n\"", "optim.eps=1e-300", "seed=9223372036854775807"},
  };
  for (const auto& change : changes) {
    Recipe r = minimal();
    for (const char* text : change) set_field(r, text);
    Recipe back;
    read_fields(parse_yaml(recipe_text(r), "resolved.yaml"), back);
    EXPECT_EQ(back, r) << recipe_text(r);
  }
}

TEST(Recipe, ReadsTheWholeSchema) {
  Recipe r;
  read_fields(parse_yaml(R"(
model: smollm2-135m
adapter: {kind: lora, rank: 16, alpha: 32, dropout: 0.0, targets: all-linear, variant: plain}
base: {store: f32}
data: {train: [{path: a.jsonl, format: messages, weight: 1}], eval: [], loss_on: assistant,
       seq_len: 2048, packing: false, too_long: drop}
optim: {kind: adamw, lr: 1.0e-4, schedule: cosine, warmup: 0.03, weight_decay: 0.0,
        betas: [0.9, 0.999], eps: 1.0e-8, clip: 1.0}
batch: {sequences: 8, micro: 1}
length: {epochs: 1}
compute: auto
remat: auto
device: cpu
mesh: auto
save: {dir: runs/first, every: 100, keep: 3}
eval: {every: 100, samples: 0}
log: {every: 10, tensorboard: false, metrics_port: 0}
seed: 0
)",
                         "schema.yaml"),
              r);
  EXPECT_EQ(r, minimal());
}

TEST(Recipe, LoadsByNameByPathAndWithOverrides) {
  const std::vector<std::string> overrides = {"adapter.rank=8", "length.steps=5"};
  const Recipe named = load_recipe("smollm2_135m_lora_cpu", overrides);
  EXPECT_EQ(named.adapter.rank, 8);
  EXPECT_EQ(named.length.epochs, std::nullopt);
  EXPECT_EQ(named.compute, "f32");
  EXPECT_EQ(load_recipe("recipes/smollm2_135m_lora_cpu.yaml", overrides), named);
  EXPECT_THAT(message_of([] { load_recipe("smollm2_135m_lora_gpu", {}); }),
              HasSubstr("did you mean \"smollm2_135m_lora_cpu\"?"));
  EXPECT_THROW(load_recipe("no/such.yaml", {}), FileError);
}

TEST(Recipe, AllRecipesLoad) {
  int count = 0;
  for (const auto& entry : fs::recursive_directory_iterator("recipes")) {
    if (!entry.is_regular_file()) continue;
    if (entry.path().parent_path().filename() == "tune") continue;  // spaces, not recipes
    EXPECT_EQ(entry.path().extension(), ".yaml") << entry.path();
    EXPECT_EQ(message_of([&] { load_recipe(entry.path().string(), {}); }), "");
    ++count;
  }
  std::printf("%d recipes load\n", count);
  EXPECT_GE(count, 1);
  EXPECT_EQ(recipe_names().size(), static_cast<size_t>(count));
}

}  // namespace
}  // namespace hone::train
