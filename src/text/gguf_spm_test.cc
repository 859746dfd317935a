// Merging by score, against a plain statement of the rule.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <iostream>
#include <unordered_map>

#include "base/quote.h"
#include "base/random.h"
#include "text/test_vocabularies.h"
#include "text/utf8.h"

namespace hone::text {
namespace {

class Reference {
 public:
  explicit Reference(const ckpt::Gguf& file) : scores_(file.reals("tokenizer.ggml.scores")) {
    for (const std::string_view piece : file.texts("tokenizer.ggml.tokens"))
      id_of_.emplace(piece, static_cast<int32_t>(id_of_.size()));
  }

  // Of all neighbours whose union is a piece, the best score merges, the leftmost of equals.
  std::vector<int32_t> encode(const std::string& text) const {
    std::vector<std::string> symbols = characters("▁" + spelt(text));
    while (true) {
      size_t best = symbols.size();
      double best_score = 0;
      for (size_t i = 0; i + 1 < symbols.size(); ++i) {
        const auto found = id_of_.find(symbols[i] + symbols[i + 1]);
        if (found == id_of_.end()) continue;
        const double score = scores_[static_cast<size_t>(found->second)];
        if (best < symbols.size() && score <= best_score) continue;
        best = i;
        best_score = score;
      }
      if (best == symbols.size()) return ids(symbols);
      symbols[best] += symbols[best + 1];
      symbols.erase(symbols.begin() + static_cast<long>(best) + 1);
    }
  }

 private:
  static std::string spelt(const std::string& text) {
    std::string out;
    for (const char c : text) out += c == ' ' ? std::string("▁") : std::string(1, c);
    return out;
  }
  static std::vector<std::string> characters(const std::string& text) {
    std::vector<std::string> result;
    for (size_t at = 0; at < text.size(); at += result.back().size())
      result.push_back(text.substr(at, utf8_step(std::string_view(text).substr(at)).bytes));
    return result;
  }
  std::vector<int32_t> ids(const std::vector<std::string>& symbols) const {
    std::vector<int32_t> result;
    for (const std::string& s : symbols) {
      if (const auto found = id_of_.find(s); found != id_of_.end()) {
        result.push_back(found->second);
        continue;
      }
      for (const char byte : s)
        result.push_back(id_of_.at(fmt::format("<0x{:02X}>", static_cast<uint8_t>(byte))));
    }
    return result;
  }

  std::unordered_map<std::string, int32_t> id_of_;
  std::vector<double> scores_;
};

// Few letters and long runs: many ways to merge.
std::string tricky(Random& random) {
  static const std::vector<std::string> kParts = {
      " ", "  ", "a", "aa", "e", "er", "s",  "ss",  "=",  "==", "-", "--",
      ".", "..", "0", "1",  "t", "h",  "in", "ing", "\n", "\t", "x", "xx",
      "/", "*",  "#", "你", "é", "😀", "I",  "V",   "_",  "__", "(", ")"};
  std::string text;
  for (int64_t n = random.between(1, 12); n > 0; --n) {
    const std::string& part = random.pick(kParts);
    for (int64_t k = random.below(3) == 0 ? random.between(1, 20) : 1; k > 0; --k) text += part;
  }
  return text;
}

TEST(GgufSentencePiece, MergesByScoreThenFromTheLeft) {
  if (!exists(vocabularies())) GTEST_SKIP() << "no " << vocabularies() << ": set-up fetches it";
  size_t count = 0;
  for (const char* const name : {"llama-spm", "phi-3", "baichuan"}) {
    const ckpt::Gguf file = open_vocabulary(name);
    const Tokenizer tokenizer = Tokenizer::from_gguf(file);
    const Reference reference(file);
    Random random(3);
    for (int i = 0; i < 2'000; ++i, ++count) {
      const std::string text = tricky(random);
      ASSERT_EQ(tokenizer.encode(text, false), reference.encode(text)) << name << quote(text);
    }
  }
  std::cout << count << " strings\n";
  EXPECT_GE(count, 6'000u);
}

}  // namespace
}  // namespace hone::text
