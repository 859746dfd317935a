// A run that goes on from any of its steps is the run that was never broken, bit for bit.
#include "train/resume.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "base/json.h"
#include "ckpt/expect_error.h"
#include "train/optimizer.h"
#include "train/test_run.h"

namespace hone::train {
namespace {

namespace fs = std::filesystem;
using ckpt::test::expect_error;
using test::bytes_of;
using test::counting;
using test::quiet;
using test::tiny_recipe;

constexpr int64_t kSteps = 50;

// Accumulation over two micro-batches, dropout, and a guard that looks at the losses before.
Recipe recipe_of(const std::string& name) {
  Recipe r = tiny_recipe(name);
  r.length.steps = kSteps;
  r.adapter.dropout = 0.1;
  r.guard.spike = 4;
  r.eval.every = 7;
  r.log.every = 3;
  return r;
}

struct Outcome {
  std::map<int64_t, double> losses;  // by step
  Report report;
  std::string adapter, arrays, metrics;
};

// metrics.jsonl without how fast it was.
std::string metrics_of(const fs::path& file) {
  std::ifstream in(file);
  std::string all;
  for (std::string line; std::getline(in, line);) {
    nlohmann::json j = parse_json(line, file.string());
    j.erase("tokens_per_second");
    all += j.dump() + "\n";
  }
  return all;
}

// The validation set is of another kind: its loss falls at first, and rises when the model has
// learned the training set.
Outcome train(const Recipe& r) {
  engine::Model model = test::open(r);
  Trainer trainer(model, r, counting(r.batch.micro), counting(r.batch.micro, 3));
  Outcome o;
  Callbacks c = quiet();
  c.on_step = [&](const Progress& p) { o.losses[p.step] = p.loss; };
  o.report = trainer.run(c);
  const fs::path folder = r.save.dir;
  o.adapter = bytes_of(folder / "adapter" / "adapter_model.safetensors");
  o.arrays = bytes_of(folder / fmt::format("checkpoint-{}", kSteps) / "state.safetensors");
  o.metrics = metrics_of(folder / "metrics.jsonl");
  return o;
}

void expect_same(const Outcome& whole, const Outcome& resumed, int64_t from) {
  ASSERT_EQ(std::ssize(resumed.losses), kSteps - from);
  for (const auto& [step, loss] : resumed.losses) EXPECT_EQ(loss, whole.losses.at(step)) << step;
  EXPECT_FALSE(whole.adapter.empty() || whole.arrays.empty());
  EXPECT_TRUE(resumed.adapter == whole.adapter) << "the adapter";
  EXPECT_TRUE(resumed.arrays == whole.arrays) << "the optimiser's state, or the losses";
  EXPECT_EQ(resumed.metrics, whole.metrics);
  EXPECT_EQ(resumed.report.train_loss, whole.report.train_loss);
  EXPECT_EQ(resumed.report.val_loss_before, whole.report.val_loss_before);
  EXPECT_EQ(resumed.report.val_loss_after, whole.report.val_loss_after);
  EXPECT_EQ(resumed.report.best_step, whole.report.best_step);
}

// Runs to the end from a copy of the whole run's folder as it was after `step`.
Outcome resume(const Recipe& whole, int64_t step) {
  Recipe r = whole;
  r.save.dir = test::run_folder("resumed");
  r.save.every = 0;
  r.resume = "auto";
  fs::remove_all(r.save.dir);
  const fs::path from = whole.save.dir, to = r.save.dir;
  for (int64_t s = 1; s <= step; ++s)  // the best may be any of them
    if (s == step || whole.save.best) {
      const std::string name = fmt::format("checkpoint-{}", s);
      fs::create_directories(to);
      fs::copy(from / name, to / name);
    }
  fs::copy(from / "metrics.jsonl", to / "metrics.jsonl");
  return train(r);
}

struct Row {
  const char* name;
  int64_t each;  // of the steps is resumed from
  void (*change)(Recipe&);
};
const Row kRows[] = {
    {"plain", 1, [](Recipe&) {}},
    {"one batch", 10, [](Recipe& r) { r.batch.micro = 4; }},
    {"dora", 10, [](Recipe& r) { r.adapter.kind = "dora"; }},
    {"loraplus, mean of the weights", 10,
     [](Recipe& r) {
       r.adapter.variant = "loraplus";
       r.optim.ema = 0.9;
     }},
    {"best", 10,
     [](Recipe& r) {
       r.save.best = true;
       r.optim.lr = 0.2;  // it gets worse after a while
     }},
};

size_t check_row(const Recipe& whole, int64_t each) {
  size_t cases = 0;
  const Outcome unbroken = train(whole);
  for (int64_t step = each; step < kSteps; step += each, ++cases) {
    SCOPED_TRACE(fmt::format("resumed after step {}", step));
    expect_same(unbroken, resume(whole, step), step);
  }
  fs::remove_all(whole.save.dir);
  fs::remove_all(test::run_folder("resumed"));
  return cases;
}

Recipe whole_run() {
  Recipe r = recipe_of("whole");
  r.save.every = 1;
  r.save.keep = kSteps;
  return r;
}

TEST(Resume, FromEveryStepIsTheUnbrokenRunBitForBit) {
  size_t cases = 0;
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.name);
    Recipe r = whole_run();
    row.change(r);
    cases += check_row(r, row.each);
  }
  ckpt::test::report_cases("resumed runs", cases, 65);
}

TEST(Resume, EveryOptimiserGoesOnBitForBit) {
  size_t cases = 0;
  for (const Optimizer* o : optimizers()) {
    SCOPED_TRACE(o->name);
    Recipe r = whole_run();
    r.optim.kind = o->name;
    r.optim.lr = 1e-3;
    cases += check_row(r, 10);
  }
  ckpt::test::report_cases("resumed optimisers", cases, 4 * optimizers().size());
}

// The validation loss gets no better: the run ends early, with the weights that were best.
TEST(Resume, EndsWithTheBestWeightsWhenTheyGetNoBetter) {
  Recipe r = recipe_of("best");
  r.save.best = true;
  r.save.keep = 1;
  r.eval.patience = 2;
  r.eval.every = 5;
  r.optim.lr = 0.2;
  const Outcome o = train(r);
  ASSERT_LT(o.report.steps, kSteps);
  EXPECT_EQ(o.report.steps, o.report.best_step + 10);
  EXPECT_FALSE(o.report.stopped);
  const fs::path folder = r.save.dir;
  auto adapter_after = [&](int64_t step) {
    return bytes_of(folder / fmt::format("checkpoint-{}", step) / "adapter_model.safetensors");
  };
  EXPECT_TRUE(o.adapter == adapter_after(o.report.best_step));
  EXPECT_FALSE(o.adapter == adapter_after(o.report.steps));
  fs::remove_all(folder);
}

// What of a recipe may change between a checkpoint and the run that goes on from it.
TEST(Resume, ChangedRecipes) {
  enum class Kind { kFree, kTold, kRefused };
  struct Change {
    const char* text;
    Kind kind;
    const char* says = "";
  };
  using enum Kind;
  const Change changes[] = {
      {"length.steps=60", kFree},
      {"save.every=7", kFree},
      {"save.dir=elsewhere", kFree},
      {"save.best=true", kFree},
      {"eval.every=9", kFree},
      {"log.every=1", kFree},
      {"resume=auto", kFree},
      {"optim.lr=0.5", kTold, "optim.lr 0.5, was 0.01"},
      {"optim.schedule=linear", kTold, "optim.schedule linear, was cosine"},
      {"optim.clip=2", kTold, "optim.clip"},
      {"guard.not_finite=skip", kTold, "guard.not_finite skip, was stop"},
      {"mesh={data: 2}", kTold, "mesh"},
      {"model=other", kRefused, "model is other"},
      {"adapter.rank=8", kRefused, "adapter.rank is 8, but x/checkpoint-5 was made with 4"},
      {"adapter.kind=dora", kRefused, "adapter.kind"},
      {"adapter.targets=[q_proj]", kRefused, "adapter.targets is [q_proj]"},
      {"adapter.dropout=0.5", kRefused, "adapter.dropout"},
      {"data.train=other.jsonl", kRefused, "data.train is"},
      {"data.seq_len=32", kRefused, "data.seq_len"},
      {"data.packing=true", kRefused, "data.packing"},
      {"batch.sequences=8", kRefused, "batch.sequences"},
      {"batch.micro=1", kRefused, "batch.micro"},
      {"optim.kind=lion", kRefused, "optim.kind"},
      {"optim.ema=0.5", kRefused, "optim.ema"},
      {"objective.kind=dpo", kRefused, "objective.kind"},
      {"seed=1", kRefused, "seed is 1, but"},
      {"base.store=nf4", kRefused, "base.store"},
  };
  const Recipe was = tiny_recipe("changes");
  const RunState state{.recipe = recipe_text(was), .data = "digest"};
  for (const Change& c : changes) {
    SCOPED_TRACE(c.text);
    Recipe is = was;
    set_field(is, c.text);
    auto check = [&] { return check_resume(state, is, "x/checkpoint-5", "digest"); };
    if (c.kind == kRefused)
      expect_error<ConfigError>(check, c.says);
    else if (c.kind == kTold)
      EXPECT_THAT(check(), testing::ElementsAre(testing::HasSubstr(c.says)));
    else
      EXPECT_THAT(check(), testing::IsEmpty());
  }
  expect_error<ConfigError>([&] { check_resume(state, was, "x/checkpoint-5", "other"); },
                            "the training data is not what x/checkpoint-5 was made with");
  ckpt::test::report_cases("changes of a recipe", std::size(changes), 27);
}

}  // namespace
}  // namespace hone::train
