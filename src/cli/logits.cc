// hone logits: the logits of every position, for comparing with a reference implementation.
#include "engine/logits.h"

#include <cstdio>

#include "ckpt/safetensors.h"
#include "cli/command.h"
#include "engine/model.h"

namespace hone::cli {
namespace {

struct Options {
  std::string model;
  std::vector<int64_t> tokens;
  std::optional<std::string> adapter;
  std::string out;

  void fields(auto& v) {
    v.argument("model", model, "a folder, a .gguf file or a name of models.yaml");
    v.needed("tokens", tokens, "token ids, such as 1,2,3");
    v("adapter", adapter, "a PEFT folder");
    v.needed("out", out, "safetensors file: tensor logits, f32 [tokens, vocab]");
  }
};

int run(const Options& o) {
  std::vector<int32_t> tokens;
  for (int64_t t : o.tokens) {
    if (t < 0 || t > INT32_MAX) throw UsageError("--tokens: {} is no token id", t);
    tokens.push_back(static_cast<int32_t>(t));
  }
  const engine::Model m = engine::Model::open(o.model, o.adapter);
  for (const std::string& w : m.warnings) std::fprintf(stderr, "warning: %s\n", w.c_str());
  const std::vector<float> values = engine::logits(m, tokens);
  const Type type{DType::kF32, {static_cast<int64_t>(tokens.size()), m.files.shape().vocab}};
  const ckpt::TensorView view{"logits", type, std::as_bytes(std::span(values))};
  ckpt::write_safetensors(o.out, std::span(&view, 1));
  return 0;
}

}  // namespace

extern const Command kLogits = command<run>(
    "logits", "write the logits of every position of a token sequence",
    {"hone logits smollm2-135m --tokens 1,2,3 --out logits.safetensors",
     "hone logits smollm2-135m --tokens 1,2,3 --adapter runs/demo/adapter --out l.st"});

}  // namespace hone::cli
