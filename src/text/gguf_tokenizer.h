// A tokenizer.json from the metadata of a GGUF file, so that one engine serves both formats.
//
// Known are byte-level BPE with a named pre-tokeniser (tokenizer.ggml.model "gpt2",
// text/gguf_bpe.cc), SentencePiece-style vocabularies with scores ("llama", text/gguf_spm.cc) and
// Gemma 4's mixture of the two ("gemma4"). Others are a ConfigError that names them.
#pragma once

#include <string>

#include "text/special_ids.h"

namespace hone::ckpt {
class Gguf;
}

namespace hone::text {

struct GgufTokenizer {
  std::string json;
  SpecialIds special;
};

GgufTokenizer gguf_tokenizer(const ckpt::Gguf& file);

}  // namespace hone::text
