#include "text/gguf_vocabulary.h"

#include <unordered_map>

#include "base/error.h"
#include "base/quote.h"

namespace hone::text {
namespace {

using nlohmann::json;

std::vector<PieceType> read_types(const ckpt::Gguf& file, size_t pieces) {
  std::vector<PieceType> types(pieces, PieceType::kNormal);
  const auto stored = file.integers("tokenizer.ggml.token_type");
  if (!stored.empty() && stored.size() < pieces)
    throw FileError("{}: {} token types for {} tokens", file.path(), stored.size(), pieces);
  for (size_t id = 0; id < std::min(pieces, stored.size()); ++id)
    if (stored[id] >= 1 && stored[id] <= 6) types[id] = static_cast<PieceType>(stored[id]);
  return types;
}

void check_pieces(const GgufVocabulary& vocabulary) {
  std::unordered_map<std::string_view, size_t> seen;
  for (size_t id = 0; id < vocabulary.pieces.size(); ++id) {
    const std::string& piece = vocabulary.pieces[id];
    if (!valid_utf8(piece))
      throw FileError("{}: token {} is not UTF-8: {}", vocabulary.file, id, quote(piece));
    const auto [first, is_new] = seen.emplace(piece, id);
    if (!is_new)
      throw FileError("{}: tokens {} and {} are both {}", vocabulary.file, first->second, id,
                      quote(piece));
  }
}

std::optional<int32_t> read_id(const ckpt::Gguf& file, std::string_view role, size_t pieces) {
  const std::string key = fmt::format("tokenizer.ggml.{}_token_id", role);
  const auto id = file.integer(key);
  if (!id) return std::nullopt;
  if (*id < 0 || static_cast<uint64_t>(*id) >= pieces)
    throw FileError("{}: {} is {}, outside the vocabulary of {}", file.path(), key, *id, pieces);
  return static_cast<int32_t>(*id);
}

}  // namespace

GgufVocabulary read_vocabulary(const ckpt::Gguf& file) {
  GgufVocabulary vocabulary{.file = file.path(), .pieces = {}, .types = {}, .special = {}};
  for (const std::string_view piece : file.texts("tokenizer.ggml.tokens"))
    vocabulary.pieces.push_back(piece.empty() ? fmt::format("[EMPTY_{}]", vocabulary.pieces.size())
                                              : std::string(piece));
  if (vocabulary.pieces.empty())
    throw FileError("{} has no tokenizer.ggml.tokens; use the model's Hugging Face folder",
                    file.path());
  check_pieces(vocabulary);
  const size_t pieces = vocabulary.pieces.size();
  vocabulary.types = read_types(file, pieces);
  vocabulary.special = {.bos = read_id(file, "bos", pieces),
                        .eos = read_id(file, "eos", pieces),
                        .eot = read_id(file, "eot", pieces),
                        .pad = read_id(file, "padding", pieces),
                        .unk = read_id(file, "unknown", pieces)};
  return vocabulary;
}

AddedEnds read_added_ends(const ckpt::Gguf& file, AddedEnds otherwise) {
  return {.bos = file.flag("tokenizer.ggml.add_bos_token").value_or(otherwise.bos),
          .eos = file.flag("tokenizer.ggml.add_eos_token").value_or(otherwise.eos)};
}

json vocabulary_json(const GgufVocabulary& vocabulary) {
  json result = json::object();
  for (size_t id = 0; id < vocabulary.pieces.size(); ++id) result[vocabulary.pieces[id]] = id;
  return result;
}

json added_tokens_json(const GgufVocabulary& vocabulary,
                       bool (*right_strip)(std::string_view piece, PieceType type)) {
  json result = json::array();
  for (size_t id = 0; id < vocabulary.pieces.size(); ++id) {
    const PieceType type = vocabulary.types[id];
    const bool special = type == PieceType::kControl || type == PieceType::kUnknown;
    if (!special && type != PieceType::kUserDefined) continue;
    const std::string& piece = vocabulary.pieces[id];
    result.push_back({{"id", id},
                      {"content", piece},
                      {"single_word", false},
                      {"lstrip", false},
                      {"rstrip", right_strip(piece, type)},
                      {"normalized", false},
                      {"special", special}});
  }
  return result;
}

json ends_json(const GgufVocabulary& vocabulary, AddedEnds ends) {
  const SpecialIds& special = vocabulary.special;
  json single = json::array(), tokens = json::object();
  const auto add = [&](std::optional<int32_t> id, const char* key) {
    if (!id) throw FileError("{}: {} is to be added, but not named", vocabulary.file, key);
    const std::string& piece = vocabulary.pieces[static_cast<size_t>(*id)];
    single.push_back({{"SpecialToken", {{"id", piece}, {"type_id", 0}}}});
    tokens[piece] = {{"id", piece}, {"ids", {*id}}, {"tokens", {piece}}};
  };
  const json text = {{"Sequence", {{"id", "A"}, {"type_id", 0}}}};
  if (ends.bos) add(special.bos, "tokenizer.ggml.bos_token_id");
  single.push_back(text);
  if (ends.eos) add(special.eos, "tokenizer.ggml.eos_token_id");
  if (tokens.empty()) return nullptr;
  return {{"type", "TemplateProcessing"},
          {"single", std::move(single)},
          {"pair", {text, {{"Sequence", {{"id", "B"}, {"type_id", 1}}}}}},
          {"special_tokens", std::move(tokens)}};
}

json merges_json(const ckpt::Gguf& file) {
  json result = json::array();
  for (const std::string_view merge : file.texts("tokenizer.ggml.merges")) {
    // A piece may begin with a space, but holds none further in.
    const size_t space = merge.find(' ', 1);
    if (space == std::string_view::npos || !valid_utf8(merge))
      throw FileError("{}: merge {} is {}, not two pieces", file.path(), result.size(),
                      quote(merge));
    result.push_back({merge.substr(0, space), merge.substr(space + 1)});
  }
  if (result.empty())
    throw FileError("{} has no tokenizer.ggml.merges; convert the model again", file.path());
  return result;
}

}  // namespace hone::text
