// From data files to a token store: tokenised once, kept in the cache folder.
#pragma once

#include <functional>

#include "data/format.h"
#include "data/token_store.h"
#include "data/tokenise.h"

namespace hone::data {

struct SourceFiles {
  std::string path;    // a file or a pattern
  std::string format;  // of format.h
};

struct TokeniseOptions {
  std::filesystem::path folder = {};  // of the stores; empty: token_folder()
  int threads = 0;                    // 0: one a processor; the result does not depend on it
  // Bytes of the files that were read, of all; called now and then.
  std::function<void(int64_t read, int64_t all)> progress = {};
};

// $HONE_CACHE/tokens, else $XDG_CACHE_HOME/hone/tokens, else ~/.cache/hone/tokens. Throws
// ConfigError when none of them is set.
std::filesystem::path token_folder();

// The store's name is a digest of what its tokens depend on: the files' paths, sizes and times of
// change, the format, the tokenizer, the template and the scope. One that is there is opened, else
// it is written. Throws ConfigError "FILE:LINE: ..." for the first bad row.
//
// Its notes: {"files", "rows", "answers": not counted here, "unused": {column: rows}}.
std::shared_ptr<const TokenStore> open_tokens(const SourceFiles& source, const Tokenising& t,
                                              const TokeniseOptions& options = {});

}  // namespace hone::data
