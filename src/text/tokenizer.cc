#include "text/tokenizer.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/mmap.h"
#include "base/sha256.h"
#include "ckpt/gguf.h"
#include "text/bridge.h"
#include "text/detokenizer.h"
#include "text/end_of_turn.h"
#include "text/gguf_tokenizer.h"

namespace hone::text {

void Tokenizer::Free::operator()(HoneTokenizer* tokenizer) const { hone_tokenizer_free(tokenizer); }

Tokenizer::Tokenizer(std::string_view json, const std::string& name) {
  HoneTokenizer* handle = nullptr;
  check_bridge<FileError>(hone_tokenizer_new(view(json), &handle), name);
  handle_.reset(handle);
  fingerprint_ = sha256(json);
  read_vocabulary(name);
  read_description(name);
  const auto letter = encode("a", false);
  adds_space_ = !letter.empty() && bytes(letter.front()).starts_with(' ');
}

void Tokenizer::read_vocabulary(const std::string& name) {
  HoneVocabulary vocabulary;
  check_bridge<FileError>(hone_tokenizer_vocabulary(handle_.get(), &vocabulary), name);
  tokens_ = Strings({vocabulary.texts.data, vocabulary.texts.size},
                    {vocabulary.ends, vocabulary.ends + vocabulary.size});
  hone_vocabulary_free(vocabulary);
}

void Tokenizer::read_description(const std::string& name) {
  HoneText text;
  check_bridge<FileError>(hone_tokenizer_describe(handle_.get(), &text), name);
  const auto description = nlohmann::json::parse(take(text));
  for (const auto& added : description.at("added"))
    if (added.at("special").get<bool>()) special_.insert(added.at("id").get<int32_t>());
  try {
    bytes_ = token_bytes(description.at("decoder"), tokens_);
  } catch (const ConfigError& e) {
    throw ConfigError("{}: {}", name, e.what());
  }
}

Tokenizer Tokenizer::from_json(std::string_view json, const std::string& name) {
  return Tokenizer(json, name);
}

Tokenizer Tokenizer::from_folder(const std::filesystem::path& folder) {
  const auto file = folder / "tokenizer.json";
  if (!exists(file))
    throw FileError("{} has no tokenizer.json; take it from the model's repository",
                    folder.string());
  const Mmap map(file);
  Tokenizer tokenizer({reinterpret_cast<const char*>(map.bytes().data()), map.bytes().size()},
                      file.string());
  if (const auto config = folder / "tokenizer_config.json"; exists(config))
    tokenizer.read_config(config);
  return tokenizer;
}

Tokenizer Tokenizer::from_gguf(const ckpt::Gguf& file) {
  const GgufTokenizer rebuilt = gguf_tokenizer(file);
  Tokenizer tokenizer(rebuilt.json, file.path());
  tokenizer.set_special_ids(rebuilt.special, file.path());
  return tokenizer;
}

void Tokenizer::read_config(const std::filesystem::path& file) {
  const nlohmann::json config = read_json(file);
  // A special token is its text, or an object that holds it as "content".
  const auto id_of = [&](const char* key) -> std::optional<int32_t> {
    const auto found = config.find(key);
    if (found == config.end() || found->is_null()) return std::nullopt;
    const auto& text = found->is_object() ? found->value("content", nlohmann::json()) : *found;
    const auto known = text.is_string() ? id(text.get<std::string>()) : std::nullopt;
    if (!known) throw ConfigError("{}: {} is not in tokenizer.json", file.string(), key);
    return known;
  };
  set_special_ids({.bos = id_of("bos_token"),
                   .eos = id_of("eos_token"),
                   .eot = {},
                   .pad = id_of("pad_token"),
                   .unk = id_of("unk_token")},
                  file.string());
}

// `name` says where the ids were found.
void Tokenizer::set_special_ids(const SpecialIds& ids, const std::string& name) {
  for (const auto& id : {ids.bos, ids.eos, ids.eot, ids.pad, ids.unk})
    if (id && (*id < 0 || *id >= vocab_size()))
      throw FileError("{}: the special token {} is outside the vocabulary of {}", name, *id,
                      vocab_size());
  ids_ = ids;
  for (const std::string_view text : kEndsOfTurn)
    if (!ids_.eot) ids_.eot = id(text);
  const auto empty = encode("", true);
  adds_bos_ = !empty.empty() && ids_.bos && empty.front() == *ids_.bos;
}

std::vector<SpannedToken> Tokenizer::encode(std::string_view text, bool add_special,
                                            bool spans) const {
  HoneTokens tokens;
  check_bridge<Error>(hone_tokenizer_encode(handle_.get(), view(text), add_special, spans, &tokens),
                      "cannot tokenise");
  std::vector<SpannedToken> result(tokens.size);
  std::transform(tokens.data, tokens.data + tokens.size, result.begin(), [](const HoneToken& t) {
    return SpannedToken{static_cast<int32_t>(t.id), t.start, t.end};
  });
  hone_tokens_free(tokens);
  return result;
}

std::vector<int32_t> Tokenizer::encode(std::string_view text, bool add_special) const {
  const auto tokens = encode(text, add_special, /*spans=*/false);
  std::vector<int32_t> ids(tokens.size());
  std::ranges::transform(tokens, ids.begin(), &SpannedToken::id);
  return ids;
}

std::vector<SpannedToken> Tokenizer::encode_spans(std::string_view text) const {
  return encode(text, /*add_special=*/false, /*spans=*/true);
}

std::string Tokenizer::decode(std::span<const int32_t> ids, bool skip_special) const {
  Detokenizer detokenizer(*this, skip_special);
  std::string text;
  for (const int32_t id : ids) text += detokenizer.push(id);
  return text + detokenizer.finish();
}

std::optional<int32_t> Tokenizer::id(std::string_view token) const {
  const int64_t id = hone_tokenizer_id(handle_.get(), view(token));
  return id < 0 ? std::nullopt : std::optional(static_cast<int32_t>(id));
}

size_t Tokenizer::checked(int32_t id) const {
  if (id < 0 || id >= vocab_size())
    throw Error("the token {} is outside the vocabulary of {}", id, vocab_size());
  return static_cast<size_t>(id);
}

}  // namespace hone::text
