// hone perplexity: how well a model foretells a text.
#include "engine/perplexity.h"

#include <cstdio>
#include <fstream>
#include <iterator>

#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/terminal.h"
#include "engine/language.h"

namespace hone::cli {
namespace {

struct Options {
  std::string model, file;
  std::optional<std::string> adapter;
  int64_t context = 512;

  void fields(auto& v) {
    v.argument("model", model, "a folder, a .gguf file or a name of models.yaml");
    v.needed("file", file, "the text, UTF-8");
    v("adapter", adapter, "a PEFT folder");
    v("context", context, "tokens of a window, of which the second half counts",
      between(4, 1 << 20));
  }
};

std::string read_text(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw FileError("cannot open {}", file);
  return {std::istreambuf_iterator<char>(in), {}};
}

int run(const Options& o) {
  const std::string text = read_text(o.file);
  const engine::ModelFiles files(engine::find_model(o.model));
  const text::Tokenizer tokenizer = engine::Language::of(files).tokenizer;
  const std::vector<int32_t> tokens = tokenizer.encode(text, /*add_special=*/true);
  const engine::Model model = engine::Model::open(o.model, o.adapter);
  for (const std::string& w : model.warnings) say("warning: " + w);
  const auto windows = std::ssize(tokens) / o.context;
  const InterruptGuard guard;
  const auto show = [&](const engine::Perplexity& p) {
    if (interrupted()) throw Interrupted("stopped after {} of {} windows", p.windows, windows);
    say(fmt::format("window {} of {}: {:.4f}", p.windows, windows, p.value()));
  };
  const engine::Perplexity p = engine::perplexity(
      model, tokens, o.context,
      tokenizer.adds_bos() ? tokenizer.special_ids().bos : std::optional<int32_t>(), show);
  std::fputs(fmt::format("perplexity {:.4f} +/- {:.4f} ({} tokens of {} windows of {})\n",
                         p.value(), p.spread(), p.counted, p.windows, o.context)
                 .c_str(),
             stdout);
  return 0;
}

}  // namespace

extern const Command kPerplexity = command<run>(
    "perplexity", "measure how well a model foretells a text",
    {"hone perplexity smollm2-135m --file book.txt",
     "hone perplexity smollm2-135m --file book.txt --adapter runs/demo/adapter --context 1024"});

}  // namespace hone::cli
