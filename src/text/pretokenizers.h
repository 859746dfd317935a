// The pre-tokenisers that GGUF files name (tokenizer.ggml.pre): how text is cut into words before
// byte-level BPE merges within each. The expressions are those of the models' tokenizer.json.
#pragma once

#include <span>
#include <string_view>

namespace hone::text {

struct Pretokenizer {
  std::string_view name;
  // One expression after the other cuts the pieces that the one before left: each match and each
  // gap between matches is a piece.
  std::span<const std::string_view> cuts;
  bool whole_words = false;  // a word that is in the vocabulary is one token, however it merges
  bool adds_bos = false;     // where the file does not say
};

// nullptr when there is none of that name.
const Pretokenizer* find_pretokenizer(std::string_view name);

std::span<const Pretokenizer> pretokenizers();

}  // namespace hone::text
