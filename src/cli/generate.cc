// hone generate: a model's answer to a prompt, as it is made.
#include <cstdio>
#include <ctime>
#include <iostream>
#include <iterator>

#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/stop_texts.h"
#include "engine/generator.h"
#include "engine/language.h"
#include "engine/model.h"
#include "text/detokenizer.h"

namespace hone::cli {
namespace {

struct Options {
  std::string model;
  std::optional<std::string> adapter, prompt, system;
  bool chat = false;
  int64_t max_tokens = 256, seed = 0, top_k = 0;
  double temperature = 0, top_p = 1, min_p = 0;
  std::vector<std::string> stop;

  void fields(auto& v) {
    v.argument("model", model, "a folder, a .gguf file or a name of models.yaml");
    v("adapter", adapter, "a PEFT folder");
    v("prompt", prompt, "the text to go on from; else the standard input is read");
    v("chat", chat, "the prompt is a user's message: use the model's chat template");
    v("system", system, "with --chat: the system message");
    v("max_tokens", max_tokens, "most tokens to make", between(1, 1 << 20));
    v("temperature", temperature, "0 takes the most likely token", between(0, 100));
    v("top_k", top_k, "only the K most likely tokens; 0 for all", between(0, 1 << 30));
    v("top_p", top_p, "only the fewest tokens that reach this probability", between(0, 1));
    v("min_p", min_p, "only tokens with this share of the best one's probability", between(0, 1));
    v("seed", seed, "the same seed draws the same text", at_least(0));
    v("stop", stop, "a text that ends the answer; may be given again");
  }
};

// A text to go on from: with the BOS that the model wants, without an EOS that would end it.
std::vector<int32_t> completion_ids(const std::string& text, const text::Tokenizer& tokenizer) {
  std::vector<int32_t> ids = tokenizer.encode(text, /*add_special=*/true);
  const text::SpecialIds& special = tokenizer.special_ids();
  if (!ids.empty() && ids.back() == special.eos && ids.back() != special.bos) ids.pop_back();
  if (ids.size() > 1 && ids[0] == special.bos && ids[1] == special.bos)
    std::fputs("warning: the prompt begins with BOS, which the tokenizer adds already\n", stderr);
  return ids;
}

std::vector<int32_t> prompt_ids(const Options& o, const engine::Language& language) {
  const std::string text =
      o.prompt ? *o.prompt : std::string(std::istreambuf_iterator<char>(std::cin), {});
  if (!o.chat) return completion_ids(text, language.tokenizer);
  std::vector<text::Message> messages;
  if (o.system) messages.push_back({"system", *o.system});
  messages.push_back({"user", text});
  return text::tokenize_prompt(language.tokenizer, language.chat_template(), messages,
                               {.now = std::time(nullptr)});
}

void write(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

int run(const Options& o) {
  if (o.system && !o.chat) throw UsageError("--system needs --chat");
  if (o.temperature <= 0 && (o.top_k > 0 || o.top_p < 1 || o.min_p > 0))
    throw UsageError("--top-k, --top-p and --min-p need a --temperature above 0");
  const engine::ModelFiles files(engine::find_model(o.model));
  const engine::Language language = engine::Language::of(files);
  const std::vector<int32_t> prompt =
      prompt_ids(o, language);  // before Ctrl-C means: stop politely
  const engine::Model m = engine::Model::open(o.model, o.adapter);
  for (const std::string& w : m.warnings) std::fprintf(stderr, "warning: %s\n", w.c_str());
  engine::Generator generator(m);
  const engine::GenerateOptions options{.max_new_tokens = o.max_tokens,
                                        .sampling = {.temperature = o.temperature,
                                                     .top_k = o.top_k,
                                                     .top_p = o.top_p,
                                                     .min_p = o.min_p,
                                                     .seed = static_cast<uint64_t>(o.seed)},
                                        .stop_tokens = language.stop_tokens};
  text::Detokenizer detokenizer(language.tokenizer, /*skip_special=*/true);
  StopTexts stop(o.stop);
  const InterruptGuard guard;
  generator.run({prompt}, options, [&](size_t, int32_t token) {
    write(stop.push(detokenizer.push(token)));
    return !stop.met() && !interrupted();
  });
  write(stop.push(detokenizer.finish()));
  if (!stop.met()) write(stop.rest());
  write("\n");
  if (interrupted()) throw Interrupted("stopped");
  return 0;
}

}  // namespace

extern const Command kGenerate = command<run>(
    "generate", "answer a prompt",
    {"hone generate smollm2-135m --prompt 'The capital of France is' --max-tokens 32",
     "hone generate smollm2-135m --chat --prompt 'Write a 4-bit counter in Verilog.'",
     "hone generate smollm2-135m --adapter runs/demo/adapter --chat --temperature 0.7 --top-p "
     "0.9"});

}  // namespace hone::cli
