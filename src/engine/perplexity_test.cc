#include "engine/perplexity.h"

#include <gmock/gmock.h>

#include <cmath>

#include "base/error.h"
#include "engine/logits.h"

namespace hone::engine {
namespace {

constexpr int64_t kContext = 8, kVocab = 128;
constexpr int32_t kBos = 1;

Model tiny() { return Model::open("tests/golden/gemma3_text_tiny", std::optional<std::string>()); }

std::vector<int32_t> text(size_t length) {
  std::vector<int32_t> ids;
  for (size_t i = 0; i < length; ++i)
    ids.push_back(static_cast<int32_t>((i * i * 31 + 7) % kVocab));
  return ids;
}

// The definition, from whole logits: tokens 5, 6 and 7 of each window of 8.
TEST(Perplexity, CountsTheSecondHalfOfEachWindow) {
  const Model model = tiny();
  const std::vector<int32_t> tokens = text(2 * kContext + 3);
  double nll = 0;
  for (size_t w = 0; w < 2; ++w) {
    std::vector<int32_t> window(tokens.begin() + static_cast<long>(w * kContext),
                                tokens.begin() + static_cast<long>((w + 1) * kContext));
    window[0] = kBos;
    const std::vector<float> all = logits(model, window);
    for (size_t i = kContext / 2 + 1; i < kContext; ++i) {
      const auto row = std::span(all).subspan((i - 1) * kVocab, kVocab);
      double sum = 0;
      for (const float l : row) sum += std::exp(static_cast<double>(l));
      nll += std::log(sum) - static_cast<double>(row[static_cast<size_t>(window[i])]);
    }
  }
  int64_t windows = 0;
  const Perplexity p =
      perplexity(model, tokens, kContext, kBos, [&](const Perplexity&) { ++windows; });
  EXPECT_EQ(p.counted, 6);
  EXPECT_EQ(windows, 2);
  EXPECT_NEAR(p.nll, nll, 1e-4 * nll);
  EXPECT_NEAR(p.value(), std::exp(nll / 6), 1e-3 * p.value());
  EXPECT_GT(p.spread(), 0);
}

TEST(Perplexity, MistakesAreOneClearLine) {
  const Model model = tiny();
  using testing::HasSubstr, testing::ThrowsMessage;
  EXPECT_THAT([&] { perplexity(model, text(7), kContext, {}); },
              ThrowsMessage<ConfigError>(HasSubstr("the text has 7 tokens")));
  EXPECT_THAT([&] { perplexity(model, text(9), 1 << 20, {}); },
              ThrowsMessage<ConfigError>(HasSubstr("is more than the model's")));
  EXPECT_THAT([&] { perplexity(model, std::vector<int32_t>(9, 500), kContext, {}); },
              ThrowsMessage<ConfigError>(HasSubstr("token 500 is outside")));
}

}  // namespace
}  // namespace hone::engine
