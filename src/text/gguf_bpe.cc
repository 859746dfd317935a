#include "text/gguf_bpe.h"

#include "base/error.h"
#include "base/nearest.h"
#include "base/quote.h"
#include "text/gguf_vocabulary.h"
#include "text/pretokenizers.h"

namespace hone::text {
namespace {

using nlohmann::json;

const Pretokenizer& pretokenizer(const ckpt::Gguf& file) {
  const auto name = file.text("tokenizer.ggml.pre");
  if (!name)
    throw ConfigError(
        "{} names no pre-tokeniser (tokenizer.ggml.pre): convert the model again, or use its "
        "Hugging Face folder",
        file.path());
  const Pretokenizer* found = find_pretokenizer(*name);
  if (found == nullptr)
    throw ConfigError(
        "{}: the pre-tokeniser {} (tokenizer.ggml.pre) is not known; use the model's Hugging Face "
        "folder",
        file.path(), quote(*name));
  return *found;
}

json byte_level_json() {
  return {{"type", "ByteLevel"},
          {"add_prefix_space", false},
          {"trim_offsets", false},
          {"use_regex", false}};
}

json pre_tokenizer_json(const Pretokenizer& pre) {
  json steps = json::array();
  for (const std::string_view cut : pre.cuts)
    steps.push_back({{"type", "Split"},
                     {"pattern", {{"Regex", cut}}},
                     {"behavior", "Isolated"},
                     {"invert", false}});
  steps.push_back(byte_level_json());
  return {{"type", "Sequence"}, {"pretokenizers", std::move(steps)}};
}

}  // namespace

GgufTokenizer gguf_byte_level_bpe(const ckpt::Gguf& file) {
  const Pretokenizer& pre = pretokenizer(file);
  const GgufVocabulary vocabulary = read_vocabulary(file);
  const AddedEnds ends = read_added_ends(file, {.bos = pre.adds_bos, .eos = false});
  const json document = {
      {"version", "1.0"},
      {"added_tokens", added_tokens_json(vocabulary, [](auto, auto) { return false; })},
      {"pre_tokenizer", pre_tokenizer_json(pre)},
      {"post_processor", ends_json(vocabulary, ends)},
      {"decoder", byte_level_json()},
      {"model",
       {{"type", "BPE"},
        {"ignore_merges", pre.whole_words},
        {"vocab", vocabulary_json(vocabulary)},
        {"merges", merges_json(file)}}}};
  return {document.dump(), vocabulary.special};
}

}  // namespace hone::text
