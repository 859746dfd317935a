// hone data: look at what a recipe trains on, and change files from one kind to another.
#include <cstdio>

#include "base/error.h"
#include "ckpt/atomic_file.h"
#include "cli/command.h"
#include "cli/run_training.h"
#include "cli/terminal.h"
#include "data/summary.h"
#include "data/tfrecord.h"

namespace hone::cli {
namespace {

struct Options {
  std::string verb, path;
  std::vector<std::string> rest;
  int64_t examples = 3;

  void fields(auto& v) {
    v.argument(
        "verb", verb,
        "inspect shows what a recipe trains on, convert writes the rows of a file as another "
        "kind of file",
        one_of({"inspect", "convert"}));
    v.argument("path", path, "the recipe to inspect, or the file to convert");
    v.argument("rest", rest, "changes to the recipe; for convert the .jsonl or .tfrecord to write");
    v("examples", examples, "how many examples inspect shows", at_least(0));
  }
};

// How the tokens that are learnt are marked.
struct Marks {
  const char *begin, *end;
};
Marks marks() { return has_colour(stdout) ? Marks{"\033[1;32m", "\033[0m"} : Marks{"[[", "]]"}; }

// Foreign text must not speak to the terminal.
void append_printable(std::string& text, std::string_view bytes) {
  for (const char c : bytes) {
    const auto code = static_cast<unsigned char>(c);
    if ((code < 0x20 && c != '\n' && c != '\t') || code == 0x7f)
      text += fmt::format("\\x{:02x}", code);
    else
      text.push_back(c);
  }
}

std::string rendered(const data::Sample& sample, const text::Tokenizer& tokenizer) {
  const Marks mark = marks();
  std::string text;
  bool learnt = false;
  for (size_t i = 0; i < sample.ids.size(); ++i) {
    if (const bool now = sample.mask[i] != 0; now != learnt) {
      text += now ? mark.begin : mark.end;
      learnt = now;
    }
    append_printable(text, tokenizer.bytes(sample.ids[i]));
  }
  return text + (learnt ? mark.end : "");
}

void print(const std::string& line) { std::printf("%s\n", line.c_str()); }

void show_lengths(const data::SampleSet& set) {
  const auto bins = data::length_histogram(set);
  int64_t most = 1, from = 1;
  for (const data::LengthBin& b : bins) most = std::max(most, b.samples);
  print("tokens of a sample:");
  for (const data::LengthBin& b : bins) {
    const auto width = static_cast<size_t>(40 * b.samples / most);
    print(fmt::format("{:>8} to {:<8} {:>9} {}", from, b.upto, b.samples, std::string(width, '#')));
    from = b.upto + 1;
  }
}

void show_set(const data::SampleSet& set, std::string_view name, uint64_t seed) {
  print(fmt::format("{}: {}", name, data::summary(set)));
  print(
      fmt::format("{:.1f}% of the samples teach the end of a turn",
                  100.0 * static_cast<double>(set.counts.ends) / static_cast<double>(set.size())));
  for (const std::string& line : data::warnings(set)) print(fmt::format("warning: {}", line));
  show_lengths(set);
  const data::Filling padded = data::unpacked_filling(set);
  print(fmt::format("one sample a sequence: {} sequences, {:.1f}% of them real tokens", padded.rows,
                    100 * padded.share));
  if (set.options.pairs) return;
  const data::Filling packed = data::packed_filling(set, seed);
  print(fmt::format("packed: {} sequences, {:.1f}%: {:.2f} times as much a sequence", packed.rows,
                    100 * packed.share, packed.share / padded.share));
}

void inspect(const Options& o) {
  const train::Recipe recipe = train::load_recipe(o.path, o.rest);
  const engine::ModelFiles files(engine::find_model(recipe.model));
  const engine::Language language = engine::Language::of(files);
  const TrainingData data = train::load_data(recipe, language);
  for (int64_t i = 0; i < std::min(o.examples, data.train.size()); ++i) {
    const data::Sample sample = data.train.samples[static_cast<size_t>(i)];
    print(fmt::format("--- sample {}: {} tokens, {} learnt ---", i + 1, sample.ids.size(),
                      data::target_count(sample)));
    print(rendered(sample, language.tokenizer));
  }
  const auto seed = static_cast<uint64_t>(recipe.seed);
  show_set(data.train, "training set", seed);
  if (data.eval) show_set(*data.eval, "validation set", seed);
}

void convert(const std::string& in, const std::string& out) {
  const std::string kind = std::filesystem::path(out).extension().string();
  const bool records = kind == ".tfrecord" || kind == ".tfrecords";
  if (!records && kind != ".jsonl")
    throw UsageError("{} must end with .jsonl or .tfrecord: no other kind can be written", out);
  int64_t rows = 0;
  ckpt::AtomicFile file(out);
  for (const auto& path : data::expand(in)) {
    const auto reader = data::open_rows(path);
    for (; const auto row = reader->next(); ++rows)
      file.write(records ? data::tfrecord(*row) : row->dump() + "\n");
  }
  file.commit();
  print(fmt::format("{} rows written to {}", rows, out));
}

int run(const Options& o) {
  if (o.verb == "inspect") {
    inspect(o);
    return 0;
  }
  if (o.rest.size() != 1) throw UsageError("data convert needs one file to read and one to write");
  convert(o.path, o.rest.front());
  return 0;
}

}  // namespace

extern const Command kData =
    command<run>("data", "look at training data and convert it",
                 {"hone data inspect smollm2_135m_lora_cpu data.train=chats.jsonl",
                  "hone data convert chats.jsonl chats.tfrecord"});

}  // namespace hone::cli
