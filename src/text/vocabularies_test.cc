// The vocabularies that llama.cpp ships, each with texts and the ids that its maker's own tokenizer
// gives for them. They lie in .deps/vocabs (HONE_VOCABS names another folder) and are not
// committed.
#include <gtest/gtest.h>

#include <iostream>
#include <sstream>

#include "ckpt/expect_error.h"
#include "text/test_vocabularies.h"

namespace hone::text {
namespace {

struct Case {
  std::string text;
  std::vector<int32_t> ids;
};

std::vector<Case> cases(const std::string& name) {
  const std::string file = (vocabularies() / ("ggml-vocab-" + name + ".gguf")).string();
  const std::string texts = read_file(file + ".inp"), separator = "\n__ggml_vocab_test__\n";
  std::istringstream lines(read_file(file + ".out"));
  std::vector<Case> result;
  for (size_t at = 0; at < texts.size();) {
    const size_t end = std::min(texts.find(separator, at), texts.size());
    Case next{texts.substr(at, end - at), {}};
    std::string line;
    std::getline(lines, line);
    std::istringstream ids(line);
    for (int32_t id; ids >> id;) next.ids.push_back(id);
    result.push_back(std::move(next));
    at = end + separator.size();
  }
  return result;
}

const char* const kServed[] = {"command-r", "deepseek-coder", "deepseek-llm", "falcon",   "gemma-4",
                               "gpt-2",     "llama-bpe",      "llama-spm",    "mpt",      "phi-3",
                               "qwen2",     "qwen35",         "refact",       "starcoder"};

TEST(Vocabularies, GiveTheExpectedIds) {
  if (!exists(vocabularies())) GTEST_SKIP() << "no " << vocabularies() << ": set-up fetches it";
  size_t texts = 0, served = 0;
  for (const std::string name : kServed) {
    SCOPED_TRACE(name);
    const Tokenizer tokenizer = Tokenizer::from_gguf(open_vocabulary(name));
    for (const Case& c : cases(name)) {
      EXPECT_EQ(tokenizer.encode(c.text, false), c.ids) << "\"" << c.text << "\"";
      ++texts;
    }
    ++served;
  }
  std::cout << served << " vocabularies, " << texts << " texts\n";
  EXPECT_GE(served, 14u);
  EXPECT_GE(texts, 600u);
}

// The others, by name and with what to do.
TEST(Vocabularies, AreRefusedByName) {
  if (!exists(vocabularies())) GTEST_SKIP() << "no " << vocabularies() << ": set-up fetches it";
  const std::pair<const char*, const char*> refused[] = {
      {"bert-bge", "a vocabulary of the kind \"bert\""},
      {"nomic-bert-moe", "a vocabulary of the kind \"t5\""},
      {"aquila", "names no pre-tokeniser (tokenizer.ggml.pre)"},
      {"gpt-neox", "names no pre-tokeniser (tokenizer.ggml.pre)"}};
  for (const auto& [name, message] : refused) {
    const ckpt::Gguf file = open_vocabulary(name);
    ckpt::test::expect_error<ConfigError>([&] { Tokenizer::from_gguf(file); }, message);
    ckpt::test::expect_error<ConfigError>([&] { Tokenizer::from_gguf(file); },
                                          "Hugging Face folder");
  }
  ckpt::test::report_cases("refused vocabularies", std::size(refused), 4);
}

}  // namespace
}  // namespace hone::text
