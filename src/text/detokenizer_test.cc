#include "text/detokenizer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/quote.h"
#include "base/random.h"
#include "text/test_vocabularies.h"

namespace hone::text {
namespace {

using Ids = std::vector<int32_t>;

std::vector<std::string> golden_strings() {
  const auto golden = nlohmann::json::parse(read_file("tests/golden/tokens.json"));
  std::vector<std::string> strings;
  for (const auto& entry : golden.at("smollm2")) strings.push_back(entry.at(0));
  return strings;
}

// All at once, from the bytes of the tokens.
std::string joined(const Tokenizer& tokenizer, const Ids& ids, bool skip_special) {
  std::string bytes;
  for (const int32_t id : ids)
    if (!skip_special || !tokenizer.is_special(id)) bytes += tokenizer.bytes(id);
  const size_t spaces = std::min(bytes.find_first_not_of(' '), bytes.size());
  bytes.erase(0, std::min(spaces, tokenizer.leading_spaces()));
  Utf8Stream stream;
  const std::string text = stream.push(bytes);
  return text + stream.finish();
}

void expect_same_in_pieces(const Tokenizer& tokenizer, const Ids& ids, bool skip_special) {
  Detokenizer detokenizer(tokenizer, skip_special);
  std::string pieces;
  for (const int32_t id : ids) {
    const std::string piece = detokenizer.push(id);
    ASSERT_TRUE(valid_utf8(piece)) << quote(piece);
    pieces += piece;
  }
  pieces += detokenizer.finish();
  ASSERT_EQ(pieces, joined(tokenizer, ids, skip_special));
  ASSERT_EQ(pieces, tokenizer.decode(ids, skip_special));
}

Ids random_ids(const Tokenizer& tokenizer, Random& random) {
  Ids ids;
  // Half of the tokens among the first 512, where the single bytes and the special tokens are.
  for (int64_t n = random.below(24); n > 0; --n)
    ids.push_back(
        static_cast<int32_t>(random.below(random.below(2) == 0 ? 512 : tokenizer.vocab_size())));
  return ids;
}

// SmolLM2's vocabulary has no token for some of them, and Hugging Face's engine drops them.
std::string without_controls(std::string text) {
  std::erase_if(text,
                [](char c) { return c >= 0 && c < ' ' && c != '\t' && c != '\n' && c != '\r'; });
  return text;
}

// Does the text come back? SentencePiece spells a space "▁", and puts one behind a special token.
bool round_trips(const Tokenizer& tokenizer, const std::string& text, bool sentence_piece) {
  const Ids ids = tokenizer.encode(text, false);
  const bool special =
      std::ranges::any_of(ids, [&](int32_t id) { return tokenizer.is_special(id); });
  if (sentence_piece && (special || text.find("▁") != std::string::npos)) return true;
  const std::string back = tokenizer.decode(ids, false);
  return back == text || (!sentence_piece && without_controls(back) == without_controls(text));
}

size_t check(const Tokenizer& tokenizer, bool sentence_piece) {
  Random random(11);
  size_t count = 0;
  for (; count < 10'000; ++count)
    expect_same_in_pieces(tokenizer, random_ids(tokenizer, random), random.below(2) == 0);
  for (const std::string& text : golden_strings()) {
    expect_same_in_pieces(tokenizer, tokenizer.encode(text, true), true);
    EXPECT_TRUE(round_trips(tokenizer, text, sentence_piece)) << quote(text);
    ++count;
  }
  return count;
}

TEST(Detokenizer, JoinsToTheWholeWithByteLevelBpe) {
  const size_t count = check(Tokenizer::from_gguf(ckpt::Gguf(kSmolLm2)), false);
  std::cout << count << " sequences\n";
  EXPECT_GE(count, 11'000u);
}

TEST(Detokenizer, JoinsToTheWholeWithSentencePiece) {
  if (!exists(vocabularies())) GTEST_SKIP() << "no " << vocabularies() << ": set-up fetches it";
  size_t count = 0;
  for (const char* const name : {"llama-spm", "gemma-4"})
    count += check(Tokenizer::from_gguf(open_vocabulary(name)), true);
  std::cout << count << " sequences\n";
  EXPECT_GE(count, 22'000u);
}

TEST(Detokenizer, WaitsForTheRestOfACharacter) {
  const Tokenizer tokenizer = Tokenizer::from_gguf(ckpt::Gguf(kSmolLm2));
  const Ids ids = tokenizer.encode("🦙", false);
  ASSERT_GT(ids.size(), 1u);
  Detokenizer detokenizer(tokenizer, false);
  for (size_t i = 0; i + 1 < ids.size(); ++i) EXPECT_EQ(detokenizer.push(ids[i]), "");
  EXPECT_EQ(detokenizer.push(ids.back()), "🦙");
}

}  // namespace
}  // namespace hone::text
