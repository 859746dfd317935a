// What each token decodes to, from the "decoder" of a tokenizer.json.
//
// Known are the decoders of byte-level BPE (ByteLevel) and of SentencePiece-style vocabularies
// (a Sequence of Replace, ByteFallback, Fuse and Strip): there a text's bytes are those of its
// tokens, one after another, but for a space at the front.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "text/strings.h"

namespace hone::text {

struct TokenBytes {
  Strings bytes;              // by id
  size_t leading_spaces = 0;  // to take off the front of a whole text
};

// tokens: the vocabulary, by id. Throws ConfigError for another decoder.
TokenBytes token_bytes(const nlohmann::json& decoder, const Strings& tokens);

}  // namespace hone::text
