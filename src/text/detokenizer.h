// Ids in, text out, as soon as it is whole characters: for streaming.
//
//   Detokenizer detokenizer(tokenizer, /*skip_special=*/true);
//   for (const int32_t id : ids) print(detokenizer.push(id));
//   print(detokenizer.finish());
//
// All that comes out, joined, is tokenizer.decode(ids): a character that is still incomplete waits
// for the next token, and finish() gives U+FFFD for one that stays so.
#pragma once

#include <cstdint>
#include <string>

#include "text/tokenizer.h"
#include "text/utf8.h"

namespace hone::text {

class Detokenizer {
 public:
  // The tokenizer must outlive it.
  Detokenizer(const Tokenizer& tokenizer, bool skip_special)
      : tokenizer_(&tokenizer),
        skip_special_(skip_special),
        spaces_to_drop_(tokenizer.leading_spaces()) {}

  std::string push(int32_t id) {
    if (skip_special_ && tokenizer_->is_special(id)) return {};
    std::string_view bytes = tokenizer_->bytes(id);
    while (spaces_to_drop_ > 0 && !bytes.empty()) {
      const bool space = bytes.front() == ' ';
      spaces_to_drop_ = space ? spaces_to_drop_ - 1 : 0;
      if (space) bytes.remove_prefix(1);
    }
    return stream_.push(bytes);
  }
  std::string finish() { return stream_.finish(); }

 private:
  const Tokenizer* tokenizer_;
  bool skip_special_;
  size_t spaces_to_drop_;  // off the front of the whole text
  Utf8Stream stream_;
};

}  // namespace hone::text
