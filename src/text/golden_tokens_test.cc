// The ids that llama.cpp gives for 1,000 strings of all kinds (tools/golden_tokens.py).
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <iostream>
#include <nlohmann/json.hpp>

#include "base/sha256.h"
#include "text/test_vocabularies.h"

namespace hone::text {
namespace {

nlohmann::json golden() { return nlohmann::json::parse(read_file("tests/golden/tokens.json")); }

TEST(GoldenTokens, OfSmolLm2) {
  const Tokenizer tokenizer = Tokenizer::from_gguf(ckpt::Gguf(kSmolLm2));
  const auto expected = golden();
  size_t count = 0;
  for (const auto& entry : expected.at("smollm2")) {
    const std::string text = entry.at(0);
    EXPECT_EQ(tokenizer.encode(text, false), entry.at(1).get<std::vector<int32_t>>()) << entry;
    ++count;
  }
  std::cout << count << " strings\n";
  EXPECT_GE(count, 1000u);
}

// Where llama.cpp departs from the models' own tokenizers, and we do not.
bool llama_cpp_differs(const std::string& name, const std::string& text) {
  const auto holds = [&](const char* part) { return text.find(part) != std::string::npos; };
  // It takes this word, which Qwen's vocabulary happens to hold, for a special token.
  if (name == "qwen2" || name == "qwen35") return holds("</s>");
  // Its expressions see no ideographic space among DeepSeek's CJK punctuation.
  if (name == "deepseek-llm") return holds("\u3000");
  return false;
}

std::string digest(const std::vector<int32_t>& ids) {
  return sha256(fmt::format("{}", fmt::join(ids, " "))).substr(0, 8);
}

TEST(GoldenTokens, OfOtherVocabularies) {
  if (!exists(vocabularies())) GTEST_SKIP() << "no " << vocabularies() << ": set-up fetches it";
  const auto expected = golden();
  size_t count = 0, vocabularies = 0, excepted = 0;
  for (const auto& [name, all_digests] : expected.at("vocabularies").items()) {
    const Tokenizer tokenizer = Tokenizer::from_gguf(open_vocabulary(name));
    const std::string digests = all_digests;
    size_t at = 0;
    for (const auto& entry : expected.at("smollm2")) {
      const std::string text = entry.at(0), wanted = digests.substr(8 * at++, 8);
      const bool equal = digest(tokenizer.encode(text, false)) == wanted;
      if (!equal && llama_cpp_differs(name, text))
        ++excepted;
      else
        EXPECT_TRUE(equal) << name << ": " << entry.at(0);
      ++count;
    }
    ++vocabularies;
  }
  std::cout << vocabularies << " vocabularies, " << count << " strings, " << excepted
            << " of them where llama.cpp is known to differ\n";
  EXPECT_GE(vocabularies, 15u);
  EXPECT_GE(count, 15000u);
  EXPECT_LE(excepted, 40u);
}

}  // namespace
}  // namespace hone::text
