// Whole runs on a tiny model: what they write, and what they do when something goes wrong.
#include "train/trainer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>

#include "base/json.h"
#include "ckpt/peft.h"
#include "train/test_run.h"

namespace hone::train {
namespace {

namespace fs = std::filesystem;
using test::counting;
using test::open;
using test::quiet;
using test::tiny_recipe;
using testing::HasSubstr;
using testing::ThrowsMessage;

size_t lines_of(const fs::path& file) {
  std::ifstream in(file);
  size_t n = 0;
  for (std::string line; std::getline(in, line);) n += parse_json(line, file.string()).is_object();
  return n;
}

TEST(Trainer, LearnsAndWritesWhatItPromises) {
  Recipe r = tiny_recipe("learns");
  r.save.every = 2;
  r.save.keep = 2;
  engine::Model m = open(r);
  Trainer trainer(m, r, counting(2), counting(2));
  const Report report = trainer.run(quiet());
  EXPECT_EQ(report.steps, 6);
  EXPECT_LT(*report.val_loss_after, *report.val_loss_before - 0.1);
  const fs::path folder = r.save.dir;
  EXPECT_EQ(lines_of(folder / "metrics.jsonl"), 6U);  // steps 1, 2, 4, 6; two evaluations
  EXPECT_EQ(
      load_recipe((folder / "recipe.yaml").string(), std::vector<std::string>{"data.train=x.jsonl"})
          .optim.lr,
      1e-2);
  EXPECT_FALSE(fs::exists(folder / "checkpoint-2"));
  EXPECT_TRUE(fs::exists(folder / "checkpoint-4" / "adapter_model.safetensors"));
  EXPECT_TRUE(fs::exists(folder / "checkpoint-6" / "adapter_config.json"));
  EXPECT_EQ(ckpt::read_peft(report.adapter_dir).tensors.size(), 3U * 7 * 2);
}

TEST(Trainer, TheSameSeedGivesTheSameAdapterBitForBit) {
  std::vector<std::vector<ckpt::PeftTensor>> results;
  for (const char* name : {"same_a", "same_b"}) {
    const Recipe r = tiny_recipe(name);
    engine::Model m = open(r);
    Trainer trainer(m, r, counting(2), std::nullopt);
    results.push_back(ckpt::read_peft(trainer.run(quiet()).adapter_dir).tensors);
  }
  for (size_t i = 0; i < results[0].size(); ++i)
    EXPECT_EQ(results[0][i].values, results[1][i].values) << results[0][i].name;
}

TEST(Trainer, ALossThatIsNoNumberStopsTheRunAndSavesNothing) {
  const Recipe r = tiny_recipe("nan");
  engine::Model m = open(r);
  const std::string name = "model.layers.0.mlp.up_proj.lora_A.weight";
  std::vector<float> values = pjrt::to_host<float>(m.trained.at(name));
  values[3] = std::numeric_limits<float>::quiet_NaN();
  m.trained[name] = m.device.client().to_device<float>(m.trained.at(name).type().dims,
                                                       std::span<const float>(values));
  Trainer trainer(m, r, counting(2), std::nullopt);
  EXPECT_THAT([&] { trainer.run(quiet()); },
              ThrowsMessage<Error>(HasSubstr("step 1: the loss is nan")));
  EXPECT_FALSE(fs::exists(fs::path(r.save.dir) / "adapter"));
}

TEST(Trainer, StopsWhenAskedAndSavesTheAdapterAsItIs) {
  const Recipe r = tiny_recipe("stopped");
  engine::Model m = open(r);
  Trainer trainer(m, r, counting(2), std::nullopt);
  int64_t done = 0;
  Callbacks c = quiet();
  c.on_step = [&](const Progress& p) { done = p.step; };
  c.stop = [&] { return done == 3; };
  const Report report = trainer.run(c);
  EXPECT_TRUE(report.stopped);
  EXPECT_EQ(report.steps, 3);
  EXPECT_TRUE(fs::exists(report.adapter_dir / "adapter_model.safetensors"));
  EXPECT_TRUE(fs::exists(fs::path(r.save.dir) / "checkpoint-3" / "state.json"));
}

TEST(Trainer, DropoutChangesTheStepButNotTheValidation) {
  std::vector<double> losses, validations;
  for (double dropout : {0.0, 0.5}) {
    Recipe r = tiny_recipe("dropout");
    r.adapter.dropout = dropout;
    engine::Model m = open(r);
    // B is not zero, so that what is dropped matters at once.
    for (auto& [name, buffer] : m.trained) {
      std::vector<float> values(static_cast<size_t>(buffer.type().size()));
      for (size_t i = 0; i < values.size(); ++i)
        values[i] = static_cast<float>(std::sin(static_cast<double>(i)) * 0.3);
      buffer =
          m.device.client().to_device<float>(buffer.type().dims, std::span<const float>(values));
    }
    Trainer trainer(m, r, counting(2), counting(2));
    Callbacks c = quiet();
    c.on_step = [&](const Progress& p) {
      if (p.step == 1) losses.push_back(p.loss);
    };
    validations.push_back(*trainer.run(c).val_loss_before);
  }
  EXPECT_EQ(validations[0], validations[1]);
  EXPECT_GT(std::abs(losses[0] - losses[1]), 1e-4);
}

TEST(Trainer, AFolderThatCannotBeMadeIsOneLine) {
  Recipe r = tiny_recipe("folder");
  std::ofstream(r.save.dir) << "a file";
  engine::Model m = open(r);
  EXPECT_THAT([&] { Trainer(m, r, counting(2), std::nullopt); },
              ThrowsMessage<FileError>(HasSubstr("cannot make the run's folder")));
  fs::remove(r.save.dir);
}

// Before the first step policy and reference are one, so dpo's loss is log 2 and its margin 0.
TEST(Trainer, PreferenceObjectivesPreferTheChosen) {
  for (const char* kind : {"dpo", "orpo"}) {
    Recipe r = tiny_recipe(fmt::format("prefer_{}", kind));
    r.objective.kind = kind;
    r.objective.beta = 0.5;
    r.batch = {.sequences = 4, .micro = 4};
    r.length.steps = 12;
    data::SampleSet pairs = counting(4), held_out = counting(4);
    pairs.options.pairs = held_out.options.pairs = true;
    engine::Model m = open(r);
    Trainer trainer(m, r, std::move(pairs), std::move(held_out));
    std::vector<Progress> steps;
    Callbacks c = quiet();
    c.on_step = [&](const Progress& p) { steps.push_back(p); };
    const Report report = trainer.run(c);
    EXPECT_LT(*report.val_loss_after, *report.val_loss_before - 0.02) << kind;
    if (r.objective.kind != "dpo") continue;
    EXPECT_NEAR(*report.val_loss_before, std::log(2.0), 1e-6);
    EXPECT_NEAR(steps.front().metrics.at(2), 0, 1e-5);  // rewards/margins
    EXPECT_GT(steps.back().metrics.at(2), 0.05);
  }
}

TEST(Trainer, TargetsThatMatchNothingAreNamed) {
  Recipe r = tiny_recipe("targets");
  r.adapter.targets = {"q_proj", "query_key_value"};
  EXPECT_THAT([&] { open(r); },
              ThrowsMessage<ConfigError>(HasSubstr("\"query_key_value\" matches no layer")));
}

}  // namespace
}  // namespace hone::train
