#include "data/token_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "base/error.h"
#include "ckpt/gguf.h"
#include "text/test_vocabularies.h"

namespace hone::data {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

const text::Tokenizer& tokenizer() {
  static const auto kTokenizer = text::Tokenizer::from_gguf(ckpt::Gguf(text::kSmolLm2));
  return kTokenizer;
}

const text::ChatTemplate& chat() {
  static const text::ChatTemplate kChat(
      "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
      "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}",
      "chatml", tokenizer());
  return kChat;
}

class TokenCache : public testing::Test {
 protected:
  TokenCache() {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  fs::path write(const std::string& name, const std::string& bytes) const {
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
    return folder_ / name;
  }
  std::shared_ptr<const TokenStore> open(const fs::path& path, const std::string& format,
                                         const text::Learn& learn = text::Learn::kAssistant,
                                         int threads = 2,
                                         const std::string& cache = "cache") const {
    return open_tokens({path.string(), format}, {tokenizer(), &chat(), learn},
                       {.folder = folder_ / cache, .threads = threads});
  }
  // The samples' texts, learnt tokens in [ ], one after another.
  std::string shown(const fs::path& path, const std::string& format,
                    const text::Learn& learn = text::Learn::kAssistant) const {
    std::string text;
    try {
      const auto store = open(path, format, learn);
      for (int64_t i = 0; i < store->size(); ++i) {
        const Sample s = store->sample(i, 0, store->length(i));
        text += i > 0 ? "\n" : "";
        for (size_t k = 0; k < s.ids.size(); ++k) {
          const bool before = k > 0 && s.mask[k - 1] != 0;
          if (before != (s.mask[k] != 0)) text += before ? "]" : "[";
          text += tokenizer().bytes(s.ids[k]);
        }
        text += s.mask.back() != 0 ? "]" : "";
        text += store->ends(i) ? "" : "...";
      }
    } catch (const Error& e) {
      EXPECT_EQ(std::string_view(e.what()).find('\n'), std::string_view::npos) << e.what();
      return std::string("ERR ") + e.what();
    }
    return text;
  }
  size_t stores(const std::string& cache = "cache") const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(folder_ / cache), {}));
  }

  const fs::path folder_ =
      fs::path(testing::TempDir()) / ("hone_token_cache_" + std::to_string(getpid()));
};

TEST_F(TokenCache, MasksEachFormat) {
  const text::Learn users{.roles = {"user"}};
  const struct {
    const char *format, *row;
    text::Learn learn;
    const char* shown;
  } table[] = {
      {"messages",
       R"({"messages":[{"role":"user","content":"q"},{"role":"assistant","content":"a"}]})",
       text::Learn::kAssistant,
       "<|im_start|>user\nq<|im_end|>\n<|im_start|>assistant\n[a<|im_end|>]\n"},
      {"messages",
       R"({"messages":[{"role":"user","content":"q"},{"role":"assistant","content":"a"}]})", users,
       "<|im_start|>user\n[q<|im_end|>]\n<|im_start|>assistant\na<|im_end|>\n..."},
      {"alpaca", R"({"instruction":"q","output":"a"})", text::Learn::kAll,
       "[<|im_start|>user\nq<|im_end|>\n<|im_start|>assistant\na<|im_end|>\n]"},
      {"completion", R"({"prompt":"2 + 2 =","completion":" 4"})", text::Learn::kAssistant,
       "2 + 2 =[ 4<|im_end|>]"},
      {"completion", R"({"prompt":"2 + 2 =","completion":" 4"})", text::Learn::kAll,
       "[2 + 2 = 4<|im_end|>]"},
      {"text", R"({"text":"hello"})", text::Learn::kAssistant, "[hello<|im_end|>]"},
      {"tokens", R"({"input_ids":[1,28,2],"labels":[-100,28,2]})", text::Learn::kAssistant,
       "<|im_start|>[,<|im_end|>]"},
      {"preference", R"({"prompt":"q","chosen":"a","rejected":"b"})", text::Learn::kAssistant,
       "q[a<|im_end|>]\nq[b<|im_end|>]"},
  };
  int n = 0;
  for (const auto& row : table)
    EXPECT_EQ(shown(write(fmt::format("{}.jsonl", n++), row.row), row.format, row.learn), row.shown)
        << row.row;
  std::printf("%d formats and scopes\n", n);
}

TEST_F(TokenCache, NamesTheRowThatCannotBeLearnt) {
  const std::string good =
      R"({"messages":[{"role":"user","content":"q"},{"role":"assistant","content":"a"}]})";
  const struct {
    const char *format, *row, *error;
  } table[] = {
      {"messages", R"({"messages":[{"role":"user","content":"q"}]})",
       "no message is one to learn: none is the assistant's"},
      {"messages", R"({"text":"x"})", "it looks like the format text"},
      {"messages", R"({"messages":[{"role":"assistant","content":"a","train":false}]})",
       "no message is one to learn"},
      {"messages", "{", "is not JSON"},
  };
  for (const auto& row : table)
    EXPECT_THAT(shown(write("bad.jsonl", good + "\n" + row.row + "\n{}\n"), row.format),
                testing::AllOf(HasSubstr("bad.jsonl:2"), HasSubstr(row.error)));
  EXPECT_THAT(shown(write("x.jsonl", R"({"input_ids":[1],"labels":[-100]})"), "tokens"),
              HasSubstr("x.jsonl:1: the example has no token to learn"));
  EXPECT_THAT(shown(write("x.jsonl", R"({"input_ids":[1,999999]})"), "tokens"),
              HasSubstr("the id 999999 is outside the vocabulary"));
  EXPECT_THAT(shown(write("x.jsonl", R"({"text":"x"})"), "text", {.roles = {"user"}}),
              HasSubstr("data.loss_on must name assistant or all"));
  EXPECT_FALSE(fs::exists(folder_ / "cache") && stores() > 0) << "half a store was left";
}

std::string many(int rows) {
  std::string text;
  for (int i = 0; i < rows; ++i)
    text += fmt::format("{{\"instruction\":\"{}\",\"output\":\"{}\",\"id\":{}}}\n",
                        std::string(static_cast<size_t>(i % 50), 'x'), i, i);
  return text;
}

std::string bytes_of_only_file(const fs::path& folder) {
  std::ifstream in(fs::directory_iterator(folder)->path(), std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST_F(TokenCache, IsTheSameForAnyNumberOfThreads) {
  const auto file = write("many.jsonl", many(2500));
  std::string first;
  for (const int threads : {1, 2, 7}) {
    const std::string cache = fmt::format("cache{}", threads);
    EXPECT_EQ(open(file, "alpaca", text::Learn::kAssistant, threads, cache)->size(), 2500);
    const std::string bytes = bytes_of_only_file(folder_ / cache);
    if (first.empty()) first = bytes;
    EXPECT_TRUE(bytes == first) << threads;
  }
}

TEST_F(TokenCache, TokenisesOnceUntilSomethingChanges) {
  const auto file = write("many.jsonl", many(10));
  EXPECT_EQ(open(file, "alpaca")->notes().dump(), R"({"files":1,"rows":10,"unused":{"id":10}})");
  open(file, "alpaca");
  EXPECT_EQ(stores(), 1u);
  open(file, "alpaca", text::Learn::kAll);
  EXPECT_EQ(stores(), 2u);
  write("many.jsonl", many(11));
  EXPECT_EQ(open(file, "alpaca")->size(), 11);
  EXPECT_EQ(stores(), 3u);
  write("many2.jsonl", many(3));
  EXPECT_EQ(open(folder_ / "many*.jsonl", "alpaca")->size(), 14);
}

}  // namespace
}  // namespace hone::data
