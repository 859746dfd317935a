// Byte-level BPE from GGUF metadata (tokenizer.ggml.model "gpt2"): pieces spelt in GPT-2's byte
// alphabet, merges in order, and a named pre-tokeniser.
#pragma once

#include "text/gguf_tokenizer.h"

namespace hone::text {

GgufTokenizer gguf_byte_level_bpe(const ckpt::Gguf& file);

}  // namespace hone::text
