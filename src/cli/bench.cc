// hone bench: seconds of a LoRA step, tokens a second of prefill and decoding, and seconds of a
// checkpoint, one JSON object a turn. bench/README.md says what a turn is and how the peers are run
// beside it.
#include <chrono>
#include <cstdio>
#include <functional>
#include <iostream>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/random.h"
#include "cli/command.h"
#include "engine/generator.h"
#include "engine/model.h"
#include "train/trainer.h"

namespace hone::cli {
namespace {

constexpr const char* kModel = "smollm2-135m";

struct Options {
  std::string what;
  std::optional<std::string> model;
  int64_t batch = 4, seq = 512, rank = 16, steps = 5;
  double share = 1.0;
  int64_t prompt_tokens = 512, new_tokens = 64;
  std::string dir = "runs/bench";
  bool wait = false;

  void fields(auto& v) {
    v.argument("what", what, "lora, generate or checkpoint",
               one_of({"lora", "generate", "checkpoint"}));
    v.argument("model", model,
               "a folder, a .gguf file or a name of models.yaml; else smollm2-135m");
    v("batch", batch, "lora: sequences of a step", between(1, 4096));
    v("seq", seq, "lora: tokens of a sequence", between(2, 1 << 20));
    v("rank", rank, "lora: rank of the adapter", between(1, 4096));
    v("share", share, "lora: share of the tokens that are targets, at the ends of the rows",
      between(0.001, 1));
    v("prompt_tokens", prompt_tokens, "generate: tokens of the prompt", between(1, 1 << 20));
    v("new_tokens", new_tokens, "generate: tokens made after the first", between(1, 1 << 20));
    v("dir", dir, "checkpoint: the folder that it is written to");
    v("steps", steps, "turns", between(1, 1 << 20));
    v("wait", wait, "do a turn for each line of the standard input, until it ends");
  }
};

void print(const nlohmann::json& line) { std::cout << line.dump() << std::endl; }

void take_turns(const Options& o, const std::function<void(int64_t turn)>& turn) {
  if (!o.wait) {
    for (int64_t i = 0; i < o.steps; ++i) turn(i);
    return;
  }
  print({{"ready", true}, {"name", "hone"}});
  std::string line;
  for (int64_t i = 0; std::getline(std::cin, line); ++i) turn(i);
}

// Every token but those of the first (1 - share) of a row is a target.
train::StepBatch random_batch(const Options& o, int64_t vocab, int64_t& rows) {
  Random random(0);
  train::StepBatch b;
  const auto first_target = static_cast<int64_t>(static_cast<double>(o.seq) * (1 - o.share));
  for (int64_t r = 0; r < o.batch; ++r)
    for (int64_t s = 0; s < o.seq; ++s) {
      b.tokens.push_back(static_cast<int32_t>(random.below(vocab)));
      b.positions.push_back(static_cast<int32_t>(s));
      b.segments.push_back(1);
    }
  for (int64_t i = 0; i < o.batch * o.seq; ++i) {
    if (i % o.seq + 1 == o.seq || i % o.seq + 1 < first_target) continue;
    b.rows.push_back(static_cast<int32_t>(i));
    b.labels.push_back(b.tokens[static_cast<size_t>(i) + 1]);
    b.weights.push_back(1);
  }
  rows = static_cast<int64_t>(b.rows.size());
  return b;
}

void bench_lora(const Options& o) {
  train::Recipe recipe;
  recipe.adapter.rank = o.rank;
  recipe.adapter.alpha = 2 * static_cast<double>(o.rank);
  engine::Model m = engine::Model::open(o.model.value_or(kModel), train::tuning_of(recipe.adapter),
                                        /*seed=*/0);
  int64_t rows = 0;
  const train::StepBatch batch = random_batch(o, m.files.shape().vocab, rows);
  train::TrainStep step(m, recipe, {.sequences = o.batch, .seq_len = o.seq, .rows = rows});
  take_turns(o, [&](int64_t turn) {
    const auto start = std::chrono::steady_clock::now();
    const train::StepResult r =
        step.run(batch, 1e-3, turn + 1, std::numeric_limits<double>::infinity());
    for (const auto& [name, buffer] : m.trained) buffer.await();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    print({{"step", turn}, {"seconds", took.count()}, {"loss", r.loss}});
  });
}

void bench_generate(const Options& o) {
  engine::Model m = engine::Model::open(o.model.value_or(kModel), std::nullopt);
  engine::Generator generator(m);
  Random random(0);
  std::vector<int32_t> prompt;
  for (int64_t i = 0; i < o.prompt_tokens; ++i)
    prompt.push_back(static_cast<int32_t>(random.below(m.files.shape().vocab)));
  const engine::GenerateOptions options{
      .max_new_tokens = o.new_tokens + 1, .sampling = {}, .stop_tokens = {}};
  generator.run({prompt}, options);  // compiles
  take_turns(o, [&](int64_t) {
    generator.run({prompt}, options);
    const engine::GenerateTimes& t = generator.times();
    print({{"prefill_tokens_per_second", static_cast<double>(t.prefill_tokens) / t.prefill_seconds},
           {"decode_tokens_per_second", static_cast<double>(t.decode_steps) / t.decode_seconds}});
  });
}

// Of a LoRA run with AdamW: what a step waits for, and what is written behind its back.
void bench_checkpoint(const Options& o) {
  train::Recipe recipe;
  recipe.adapter.rank = o.rank;
  const engine::Model m =
      engine::Model::open(o.model.value_or(kModel), train::tuning_of(recipe.adapter), /*seed=*/0);
  const engine::Declarations declared(m.files, m.tuning);
  engine::Buffers optimizer;
  for (const auto& [name, weight] : m.trained)
    for (const char* moment : {"m.", "v."})
      optimizer[moment + name] = engine::copied(m.device, weight);
  std::filesystem::create_directories(o.dir);
  take_turns(o, [&](int64_t) {
    const auto start = std::chrono::steady_clock::now();
    train::Snapshot s;
    s.arrays = train::copy_to_host(m.trained, optimizer);
    s.adapter = engine::peft_of(*m.tuning.lora, m.trained, declared.params, kModel);
    const auto copied = std::chrono::steady_clock::now();
    const auto folder = std::filesystem::path(o.dir) / "checkpoint-1";
    train::write_checkpoint(folder, s);
    const std::chrono::duration<double> wait = copied - start,
                                        written = std::chrono::steady_clock::now() - copied;
    uintmax_t bytes = 0;
    for (const auto& file : std::filesystem::directory_iterator(folder)) bytes += file.file_size();
    print({{"bytes", bytes}, {"wait_seconds", wait.count()}, {"write_seconds", written.count()}});
  });
  std::filesystem::remove_all(std::filesystem::path(o.dir) / "checkpoint-1");
}

int run(const Options& o) {
  if (o.what == "lora") bench_lora(o);
  if (o.what == "generate") bench_generate(o);
  if (o.what == "checkpoint") bench_checkpoint(o);
  return 0;
}

}  // namespace

extern const Command kBench =
    command<run>("bench", "measure a LoRA step, prefill and decoding, or a checkpoint",
                 {"hone bench lora --batch 4 --seq 512", "hone bench generate --prompt-tokens 512",
                  "hone bench checkpoint --rank 64 --dir /tmp/bench"});

}  // namespace hone::cli
