// A Tokenizer turns text into token ids and back.
//
// The merging is done by Hugging Face tokenizers behind bridge/hone_bridge.h, from a tokenizer.json
// or from one that is rebuilt from GGUF metadata (text/gguf_tokenizer.h). Special tokens that stand
// in the text become their ids. Decoding joins the bytes of the tokens, so that it can also be done
// piece by piece (text/detokenizer.h) with the same result.
//
// Constructors throw FileError or ConfigError: a vocabulary of a kind we do not know is refused by
// name. Everything else is read-only and may be called from several threads.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "text/special_ids.h"
#include "text/strings.h"
#include "text/token_bytes.h"

struct HoneTokenizer;

namespace hone::ckpt {
class Gguf;
}

namespace hone::text {

// A token and the bytes [start, end) of the text that it stands for. The tokens of one character
// all have that character's bytes.
struct SpannedToken {
  int32_t id;
  uint32_t start, end;
};

class Tokenizer {
 public:
  // The text of a tokenizer.json; `name` stands for it in messages. Without special ids.
  static Tokenizer from_json(std::string_view json, const std::string& name = "tokenizer.json");
  // tokenizer.json, and the special tokens of tokenizer_config.json where that is there.
  static Tokenizer from_folder(const std::filesystem::path& folder);
  static Tokenizer from_gguf(const ckpt::Gguf& file);

  // add_special: with the BOS and EOS that the model wants. Throws Error when text is not UTF-8.
  std::vector<int32_t> encode(std::string_view text, bool add_special) const;
  std::vector<SpannedToken> encode_spans(std::string_view text) const;  // without BOS and EOS

  // UTF-8; what is not becomes U+FFFD. skip_special: special tokens leave nothing.
  std::string decode(std::span<const int32_t> ids, bool skip_special) const;

  int32_t vocab_size() const { return static_cast<int32_t>(tokens_.size()); }  // largest id + 1
  // As the vocabulary spells it ("Ġthe"); empty where the id has no token. Throws Error when the id
  // is out of range, as bytes() does.
  std::string_view token(int32_t id) const { return tokens_[checked(id)]; }
  std::optional<int32_t> id(std::string_view token) const;
  std::string_view bytes(int32_t id) const { return bytes_.bytes[checked(id)]; }  // " the"
  bool is_special(int32_t id) const { return special_.contains(id); }

  const SpecialIds& special_ids() const { return ids_; }
  bool adds_bos() const { return adds_bos_; }      // encode(text, true) begins with BOS
  bool adds_space() const { return adds_space_; }  // encode("a") is that of " a"
  // Two tokenizers with the same give the same ids: a digest of the vocabulary and its rules.
  const std::string& fingerprint() const { return fingerprint_; }
  // How many spaces a decoded text loses at its front, where SentencePiece had put one.
  size_t leading_spaces() const { return bytes_.leading_spaces; }

 private:
  struct Free {
    void operator()(HoneTokenizer* tokenizer) const;
  };

  Tokenizer(std::string_view json, const std::string& name);
  void read_vocabulary(const std::string& name);
  void read_description(const std::string& name);
  void set_special_ids(const SpecialIds& ids, const std::string& name);
  void read_config(const std::filesystem::path& file);
  std::vector<SpannedToken> encode(std::string_view text, bool add_special, bool spans) const;
  size_t checked(int32_t id) const;

  std::unique_ptr<HoneTokenizer, Free> handle_;
  std::string fingerprint_;
  Strings tokens_;
  TokenBytes bytes_;
  std::unordered_set<int32_t> special_;
  SpecialIds ids_;
  bool adds_bos_ = false, adds_space_ = false;
};

}  // namespace hone::text
