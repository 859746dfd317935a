// A Recipe is everything a training run is told: one YAML schema, read strictly.
//
//   const Recipe r = load_recipe("smollm2_135m_lora_cpu", {"adapter.rank=8"});
//   write(folder / "recipe.yaml", recipe_text(r));      // reads back equal
//
// Values that the schema has and this build cannot do yet are refused by check_recipe(), so that a
// Recipe that was loaded can be run as it stands. Errors are ConfigErrors of one line.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/fields.h"

namespace hone::train {

struct RankRecipe {
  std::string match;
  int64_t rank = 16;
  double alpha = 32;

  void fields(auto& v) {
    v("match", match, "a target's name or path, or a regular expression of whole paths");
    v("rank", rank, "instead of adapter.rank", between(1, 4096));
    v("alpha", alpha, "instead of adapter.alpha", above(0));
  }
  bool operator==(const RankRecipe&) const = default;
};

struct AdapterRecipe {
  std::string kind = "lora";
  int64_t rank = 16;
  double alpha = 32;
  double dropout = 0;
  std::vector<std::string> targets = {"all-linear"};
  std::vector<std::string> parameters;
  std::string variant = "plain";
  double loraplus_ratio = 16;
  std::vector<RankRecipe> ranks;
  std::vector<std::string> modules_to_save;
  std::string start;

  void fields(auto& v) {
    v("kind", kind, "lora, dora, or none to train every weight", one_of({"lora", "dora", "none"}));
    v("rank", rank, "inner size of the two added matrices", between(1, 4096));
    v("alpha", alpha, "their product is scaled by alpha / rank", above(0));
    v("dropout", dropout, "share of their input that is dropped while training", between(0, 0.99));
    v("targets", targets,
      "all-linear, names such as [q_proj, v_proj], or a regular expression of whole paths");
    v("parameters", parameters,
      "weights that hold many experts, such as [experts.gate_up_proj, experts.down_proj]");
    v("variant", variant, "rslora scales by alpha / sqrt(rank); loraplus gives B its own rate",
      one_of({"plain", "rslora", "loraplus"}));
    v("loraplus_ratio", loraplus_ratio, "B's rate over A's, for loraplus", above(0));
    v("ranks", ranks, "other ranks and alphas for some of the targets");
    v("modules_to_save", modules_to_save, "layers whose own weights are trained too");
    v("start", start, "the folder of an adapter to go on from; its kind and ranks are kept");
  }
  bool operator==(const AdapterRecipe&) const = default;
};

struct BaseRecipe {
  std::string store = "f32";

  void fields(auto& v) {
    v("store", store, "how frozen weights are held; nf4 is QLoRA",
      one_of({"as-is", "bf16", "f32", "int8", "nf4"}));
  }
  bool operator==(const BaseRecipe&) const = default;
};

struct DataSource {
  std::string path;
  std::string format = "messages";
  double weight = 1;

  std::string& shorthand() { return path; }  // train: chats.jsonl
  void fields(auto& v) {
    v("path", path,
      "a file, or several by * and ?: .jsonl, .json, .csv, .parquet, .tfrecord, .txt");
    v("format", format, "what a row holds; messages is the chat format with role and content",
      one_of({"messages", "sharegpt", "alpaca", "completion", "text", "tokens", "preference"}));
    v("weight", weight, "how often it is drawn, against the others", above(0));
  }
  bool operator==(const DataSource&) const = default;
};

struct DataRecipe {
  std::vector<DataSource> train, eval;
  double eval_share = 0;
  std::vector<std::string> loss_on = {"assistant"};
  int64_t seq_len = 2048;
  bool packing = false;
  std::string too_long = "drop";

  void fields(auto& v) {
    v("train", train, "files to train on; one path alone is a list of one");
    v("eval", eval, "files whose loss is measured, never trained on");
    v("eval_share", eval_share, "share of the training files that is put aside for evaluation",
      between(0, 0.9));
    v("loss_on", loss_on, "which tokens are learned: all, last-turn, or roles",
      one_of({"assistant", "all", "last-turn", "user", "system", "tool"}));
    v("seq_len", seq_len, "tokens of a sequence", between(8, 1 << 24));
    v("packing", packing, "put several short examples into one sequence, apart from each other");
    v("too_long", too_long, "what becomes of an example longer than seq_len",
      one_of({"drop", "truncate", "split"}));
  }
  bool operator==(const DataRecipe&) const = default;
};

struct OptimRecipe {
  std::string kind = "adamw";
  double lr = 1e-4;
  std::string schedule = "cosine";
  double warmup = 0.03;
  double floor = 0;
  double cooldown = 0.2;
  double weight_decay = 0;
  std::array<double, 2> betas = {0.9, 0.999};
  double eps = 1e-8;
  double clip = 1;
  double ema = 0;

  void fields(auto& v) {
    v("kind", kind, "optimiser",
      one_of({"adamw", "adamw8bit", "adafactor", "lion", "muon", "sgd"}));
    v("lr", lr, "highest learning rate", between(0, 10));
    v("schedule", schedule, "how the rate falls after the warm-up",
      one_of({"constant", "linear", "cosine", "wsd", "one-cycle"}));
    v("warmup", warmup, "in which the rate rises: a share of the steps, or from 1 on their number",
      at_least(0));
    v("floor", floor, "the rate at the end, as a share of lr", between(0, 1));
    v("cooldown", cooldown, "share of the steps in which wsd falls at the end", between(0, 1));
    v("weight_decay", weight_decay, "decoupled decay of trained weights", at_least(0));
    v("betas", betas, "decay of the two moments", between(0, 0.999999));
    v("eps", eps, "added to the second moment's root", above(0));
    v("clip", clip, "largest global gradient norm; 0 never clips", at_least(0));
    v("ema", ema, "decay of a running mean of the weights, which is saved instead; 0 for none",
      between(0, 0.999999));
  }
  bool operator==(const OptimRecipe&) const = default;
};

struct ObjectiveRecipe {
  std::string kind = "sft";
  double beta = 0.1;
  double label_smoothing = 0;
  std::optional<double> router_aux_loss_coef;

  void fields(auto& v) {
    v("kind", kind, "sft learns the targets; dpo and orpo prefer one answer to another",
      one_of({"sft", "dpo", "orpo"}));
    v("beta", beta, "weight of the preference", above(0));
    v("label_smoothing", label_smoothing,
      "share of the pairs of dpo that may be the wrong way round", between(0, 0.5));
    v("router_aux_loss_coef", router_aux_loss_coef,
      "weight of the experts' load-balance loss; as the model's config asks", at_least(0));
  }
  bool operator==(const ObjectiveRecipe&) const = default;
};

struct BatchRecipe {
  int64_t sequences = 8;
  int64_t micro = 1;

  void fields(auto& v) {
    v("sequences", sequences, "sequences of one optimiser step", between(1, 1 << 20));
    v("micro", micro, "sequences on the device at once; accumulation follows", between(1, 1 << 20));
  }
  bool operator==(const BatchRecipe&) const = default;
};

struct LengthRecipe {
  std::optional<double> epochs = 1;
  std::optional<int64_t> steps;

  void fields(auto& v) {
    v("epochs", epochs, "passes over the training data", between(1e-6, 1e6));
    v("steps", steps, "optimiser steps, instead of epochs", between(1, 1e9));
    v.either("epochs", epochs, "steps", steps);
  }
  bool operator==(const LengthRecipe&) const = default;
};

struct MeshRecipe {
  int64_t data = 1, fsdp = 1, tensor = 1, context = 1, expert = 1, stage = 1, slices = 1;

  void fields(auto& v) {
    const Rule devices = between(1, 1 << 20);
    v("data", data, "copies of the model, each with its share of the batch", devices);
    v("fsdp", fsdp, "the same, with the weights split between them", devices);
    v("tensor", tensor, "parts of each matrix product", devices);
    v("context", context, "parts of each sequence", devices);
    v("expert", expert, "parts of the experts", devices);
    v("stage", stage, "pipeline stages", devices);
    v("slices", slices, "slices joined by the slower network", devices);
  }
  bool operator==(const MeshRecipe&) const = default;
};

struct SaveRecipe {
  std::string dir = "runs/first";
  int64_t every = 100;
  int64_t keep = 3;
  bool best = false;

  void fields(auto& v) {
    v("dir", dir, "folder of the run");
    v("every", every, "steps between checkpoints; 0 saves at the end only", between(0, 1e9));
    v("keep", keep, "newest checkpoints that are kept", between(1, 1e6));
    v("best", best, "keep the step with the lowest validation loss too, and end with its weights");
  }
  bool operator==(const SaveRecipe&) const = default;
};

struct EvalRecipe {
  int64_t every = 100;
  int64_t samples = 0;
  int64_t patience = 0;

  void fields(auto& v) {
    v("every", every, "steps between evaluations; 0 evaluates at both ends only", at_least(0));
    v("samples", samples, "prompts answered at each", between(0, 1000));
    v("patience", patience, "evaluations without a better loss that end the run; 0 never",
      at_least(0));
  }
  bool operator==(const EvalRecipe&) const = default;
};

struct GuardRecipe {
  std::string not_finite = "stop";
  double spike = 0;

  void fields(auto& v) {
    v("not_finite", not_finite, "what becomes of a run whose loss or gradient is no number",
      one_of({"stop", "skip"}));
    v("spike", spike, "leave out a step whose loss is this many times the recent mean; 0 never",
      at_least(0));
  }
  bool operator==(const GuardRecipe&) const = default;
};

struct LogRecipe {
  int64_t every = 10;
  bool tensorboard = false;
  int64_t metrics_port = 0;

  void fields(auto& v) {
    v("every", every, "steps between lines of metrics.jsonl", at_least(1));
    v("tensorboard", tensorboard, "write TensorBoard event files");
    v("metrics_port", metrics_port, "port of the Prometheus endpoint; 0 for none",
      between(0, 65535));
  }
  bool operator==(const LogRecipe&) const = default;
};

struct Recipe {
  std::string model;
  AdapterRecipe adapter;
  BaseRecipe base;
  DataRecipe data;
  ObjectiveRecipe objective;
  OptimRecipe optim;
  BatchRecipe batch;
  LengthRecipe length;
  std::string compute = "auto";
  std::string remat = "auto";
  std::string device = "cpu";
  OrAuto<MeshRecipe> mesh;
  SaveRecipe save;
  EvalRecipe eval;
  GuardRecipe guard;
  LogRecipe log;
  std::string resume = "never";
  int64_t seed = 0;

  void fields(auto& v) {
    v("model", model, "a name of models.yaml, a folder, or a .gguf file");
    v("adapter", adapter, "what is trained");
    v("base", base, "the weights underneath");
    v("data", data, "what is learned");
    v("objective", objective, "what is made small");
    v("optim", optim, "how it is learned");
    v("batch", batch, "how much at once");
    v("length", length, "how long: epochs or steps");
    v("compute", compute, "type of the arithmetic; auto is f32 on a CPU, bf16 elsewhere",
      one_of({"auto", "bf16", "f32"}));
    v("remat", remat, "what the backward pass computes again instead of keeping",
      one_of({"none", "attention", "block", "auto"}));
    v("device", device, "where it runs", one_of({"cpu", "tpu", "gpu"}));
    v("mesh", mesh, "devices along each axis, or auto");
    v("save", save, "checkpoints and the adapter");
    v("eval", eval, "measuring during the run");
    v("guard", guard, "what a run does that goes wrong");
    v("log", log, "watching the run");
    v("resume", resume, "auto goes on from the newest checkpoint of save.dir, if there is one",
      one_of({"never", "auto"}));
    v("seed", seed, "of data order, dropout and new weights", at_least(0));
  }
  bool operator==(const Recipe&) const = default;
};

// A file (a path with a / or a .yaml at its end) or a name of recipes/, then as changed() does.
Recipe load_recipe(const std::string& name, std::span<const std::string> overrides);

// The overrides "key=value" in order, then `auto` of compute and remat resolved, then
// check_recipe().
Recipe changed(Recipe recipe, std::span<const std::string> overrides);

// Throws ConfigError for what no single field can know: what is missing, what does not fit
// together, and what is not built yet.
void check_recipe(const Recipe& recipe);

std::string recipe_text(const Recipe& recipe);  // every field, as YAML

std::vector<std::string> recipe_names();  // of recipes/, sorted, without .yaml
std::filesystem::path find_recipe(const std::string& name);

}  // namespace hone::train
