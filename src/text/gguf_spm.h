// SentencePiece-style vocabularies from GGUF metadata: pieces spelt with "▁" for a space, and bytes
// ("<0x0A>") for characters that have no piece.
#pragma once

#include "text/gguf_tokenizer.h"

namespace hone::text {

// tokenizer.ggml.model "llama": neighbouring pieces merge while their union is a piece, the union
// with the highest score first, and of equal scores the leftmost.
GgufTokenizer gguf_sentencepiece(const ckpt::Gguf& file);

// "gemma4": the same pieces, merged in the order of a list.
GgufTokenizer gguf_gemma4(const ckpt::Gguf& file);

}  // namespace hone::text
