// The vocabulary of a GGUF file, read once and checked, and what both kinds of vocabulary make of
// it: the parts of a tokenizer.json that do not depend on how pieces merge.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "ckpt/gguf.h"
#include "text/special_ids.h"

namespace hone::text {

// tokenizer.ggml.token_type
enum class PieceType { kNormal = 1, kUnknown, kControl, kUserDefined, kUnused, kByte };

struct GgufVocabulary {
  std::string file;  // for messages
  std::vector<std::string> pieces;
  std::vector<PieceType> types;
  SpecialIds special;
};

// Throws FileError: no vocabulary, a piece that is not UTF-8 or stands twice, an id out of range.
GgufVocabulary read_vocabulary(const ckpt::Gguf& file);

// The file's tokenizer.ggml.add_{bos,eos}_token, or what its kind of vocabulary does by default.
struct AddedEnds {
  bool bos, eos;
};
AddedEnds read_added_ends(const ckpt::Gguf& file, AddedEnds otherwise);

nlohmann::json vocabulary_json(const GgufVocabulary& vocabulary);  // {piece: id}

// Control and unknown pieces as special tokens, user-defined ones as plain added tokens: they are
// cut out of the text before anything else. right_strip: those that also swallow what white space
// follows.
nlohmann::json added_tokens_json(const GgufVocabulary& vocabulary,
                                 bool (*right_strip)(std::string_view piece, PieceType type));

// The post-processor that puts BOS before a text and EOS after it; null when it does neither.
nlohmann::json ends_json(const GgufVocabulary& vocabulary, AddedEnds ends);

// tokenizer.ggml.merges as pairs of pieces.
nlohmann::json merges_json(const ckpt::Gguf& file);

}  // namespace hone::text
