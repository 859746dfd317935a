#include "text/tokenizer.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "ckpt/expect_error.h"
#include "ckpt/test_files.h"
#include "text/test_vocabularies.h"

namespace hone::text {
namespace {

using ckpt::test::bytes_of;
using ckpt::test::expect_error;
using ckpt::test::GgufBuilder;
using ckpt::test::TempFolder;
using ckpt::test::write_file;

using Ids = std::vector<int32_t>;
using Texts = std::vector<std::string>;

Tokenizer from_gguf(const GgufBuilder& builder) {
  const std::string bytes = builder.build();
  return Tokenizer::from_gguf(ckpt::Gguf(bytes_of(bytes), "x.gguf"));
}

// "a b" -> a, Ġ, b; "ab" -> ab.
GgufBuilder byte_level(const std::string& pre = "gpt-2") {
  GgufBuilder b;
  b.text("tokenizer.ggml.model", "gpt2")
      .texts("tokenizer.ggml.tokens", Texts{"<s>", "</s>", "a", "b", "Ġ", "ab", "Ã", "©"})
      .numbers<int32_t>("tokenizer.ggml.token_type", 5, {3, 3, 1, 1, 1, 1, 1, 1})
      .texts("tokenizer.ggml.merges", Texts{"a b"})
      .u32("tokenizer.ggml.bos_token_id", 0)
      .u32("tokenizer.ggml.eos_token_id", 1);
  if (!pre.empty()) b.text("tokenizer.ggml.pre", pre);
  return b;
}

GgufBuilder sentence_piece() {
  Texts pieces = {"<unk>", "<s>", "</s>", "▁", "a", "b", "▁a", "ab", "▁ab"};
  std::vector<float> scores = {0, 0, 0, -9, -9, -9, -2, -1, -3};
  std::vector<int32_t> types = {2, 3, 3, 1, 1, 1, 1, 1, 1};
  for (int byte = 0; byte < 256; ++byte) {
    pieces.push_back(fmt::format("<0x{:02X}>", byte));
    scores.push_back(0);
    types.push_back(6);
  }
  GgufBuilder b;
  b.text("tokenizer.ggml.model", "llama")
      .texts("tokenizer.ggml.tokens", pieces)
      .numbers("tokenizer.ggml.scores", 6, scores)
      .numbers("tokenizer.ggml.token_type", 5, types);
  return b;
}

TEST(Tokenizer, ByteLevelFromGguf) {
  const Tokenizer t = from_gguf(byte_level().flag("tokenizer.ggml.add_bos_token", true));
  EXPECT_EQ(t.encode("ab a", false), (Ids{5, 4, 2}));
  EXPECT_EQ(t.encode("é", false), (Ids{6, 7}));
  EXPECT_EQ(t.encode("a</s>b", false), (Ids{2, 1, 3}));
  EXPECT_EQ(t.encode("a", true), (Ids{0, 2}));
  EXPECT_TRUE(t.adds_bos());
  EXPECT_FALSE(t.adds_space());
  EXPECT_EQ(t.vocab_size(), 8);
  EXPECT_EQ(t.token(4), "Ġ");
  EXPECT_EQ(t.bytes(4), " ");
  EXPECT_EQ(t.id("ab"), 5);
  EXPECT_EQ(t.id("c"), std::nullopt);
  EXPECT_EQ(t.special_ids().bos, 0);
  EXPECT_EQ(t.special_ids().unk, std::nullopt);
  EXPECT_EQ(t.decode(Ids{0, 5, 4, 2, 1}, true), "ab a");
  EXPECT_EQ(t.decode(Ids{0, 5, 1}, false), "<s>ab</s>");
  EXPECT_EQ(t.decode(Ids{6}, false), "\uFFFD");
}

TEST(Tokenizer, SentencePieceFromGguf) {
  const Tokenizer t = from_gguf(sentence_piece());
  EXPECT_EQ(t.encode("ab", false), (Ids{8}));  // ab by its score, then ▁ab
  EXPECT_EQ(t.encode("ab", true), (Ids{1, 8}));
  EXPECT_EQ(t.encode("é", false), (Ids{3, 9 + 0xC3, 9 + 0xA9}));
  EXPECT_EQ(t.encode("", false), Ids{});
  EXPECT_EQ(t.encode("", true), Ids{1});
  EXPECT_TRUE(t.adds_bos());
  EXPECT_TRUE(t.adds_space());
  EXPECT_EQ(t.decode(t.encode("ab é", true), true), "ab é");
  EXPECT_EQ(t.special_ids().bos, 1);
  EXPECT_EQ(t.special_ids().eos, 2);
  EXPECT_EQ(t.special_ids().unk, 0);
}

TEST(Tokenizer, SentencePieceWithoutTheLeadingSpace) {
  const Tokenizer t = from_gguf(sentence_piece()
                                    .flag("tokenizer.ggml.add_space_prefix", false)
                                    .flag("tokenizer.ggml.add_bos_token", false));
  EXPECT_EQ(t.encode("ab", true), Ids{7});
  EXPECT_EQ(t.decode(t.encode(" ab", false), false), " ab");
  EXPECT_FALSE(t.adds_space());
}

TEST(Tokenizer, SpansAreBytesOfTheText) {
  const Tokenizer t = from_gguf(byte_level());
  const auto tokens = t.encode_spans("ab é</s>");
  ASSERT_EQ(tokens.size(), 5u);
  EXPECT_EQ((std::pair{tokens[0].start, tokens[0].end}), (std::pair{0u, 2u}));
  EXPECT_EQ((std::pair{tokens[1].start, tokens[1].end}), (std::pair{2u, 3u}));
  EXPECT_EQ((std::pair{tokens[2].start, tokens[2].end}), (std::pair{3u, 5u}));  // both bytes
  EXPECT_EQ((std::pair{tokens[3].start, tokens[3].end}), (std::pair{3u, 5u}));  // of one character
  EXPECT_EQ((std::pair{tokens[4].start, tokens[4].end}), (std::pair{5u, 9u}));
}

TEST(Tokenizer, FromFolder) {
  const TempFolder folder;
  expect_error([&] { Tokenizer::from_folder(folder.path()); }, "has no tokenizer.json");
  const auto json = nlohmann::json::parse(R"({
    "added_tokens": [{"id": 2, "content": "<s>", "single_word": false, "lstrip": false,
                      "rstrip": false, "normalized": false, "special": true},
                     {"id": 3, "content": "<|im_end|>", "single_word": false, "lstrip": false,
                      "rstrip": false, "normalized": false, "special": true}],
    "normalizer": {"type": "NFC"},
    "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true,
                      "use_regex": true},
    "post_processor": {"type": "Sequence", "processors": [
      {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true},
      {"type": "TemplateProcessing",
       "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
       "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
       "special_tokens": {"<s>": {"id": "<s>", "ids": [2], "tokens": ["<s>"]}}}]},
    "decoder": {"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true, "use_regex": true},
    "model": {"type": "BPE", "vocab": {"a": 0, "Ġ": 1}, "merges": []},
    "truncation": {"direction": "Right", "max_length": 1, "strategy": "LongestFirst", "stride": 0},
    "padding": null})");
  write_file(folder / "tokenizer.json", json.dump());
  const Tokenizer plain = Tokenizer::from_folder(folder.path());
  EXPECT_EQ(plain.encode("a a", true), (Ids{2, 0, 1, 0}));  // and not cut to one
  EXPECT_EQ(plain.special_ids().bos, std::nullopt);
  EXPECT_EQ(plain.encode_spans("a a").at(1).start, 1u);  // the space is not trimmed off

  write_file(folder / "tokenizer_config.json",
             R"({"bos_token": {"content": "<s>", "special": true}, "eos_token": "<|im_end|>",
                 "pad_token": null})");
  const Tokenizer t = Tokenizer::from_folder(folder.path());
  EXPECT_EQ(t.special_ids().bos, 2);
  EXPECT_EQ(t.special_ids().eos, 3);
  EXPECT_EQ(t.special_ids().eot, 3);  // by its name
  EXPECT_EQ(t.special_ids().pad, std::nullopt);
  EXPECT_TRUE(t.adds_bos());

  write_file(folder / "tokenizer_config.json", R"({"bos_token": "<bos>"})");
  expect_error<ConfigError>([&] { Tokenizer::from_folder(folder.path()); },
                            "bos_token is not in tokenizer.json");
}

TEST(Tokenizer, RefusesWhatIsNoText) {
  const Tokenizer t = from_gguf(byte_level());
  expect_error<Error>([&] { t.encode("a\xFF", false); }, "not UTF-8: byte 1");
  expect_error<Error>([&] { t.decode(Ids{8}, false); }, "outside the vocabulary of 8");
  expect_error<Error>([&] { t.token(-1); }, "outside the vocabulary");
}

// The regular expressions that cut words give up beyond a million characters.
TEST(Tokenizer, RefusesEndlessWords) {
  const Tokenizer t = from_gguf(byte_level());
  EXPECT_EQ(t.encode(std::string(400'000, 'a'), false).size(), 400'000u);
  EXPECT_EQ(t.encode(std::string(300'000, 'b') + " " + std::string(300'000, 'b'), false).size(),
            600'001u);
  expect_error<Error>([&] { t.encode(std::string(600'000, 'a'), false); }, "break the text up");
  expect_error<Error>([&] { t.encode(std::string(2'000'000, ' '), false); }, "break the text up");
}

struct Bad {
  const char* name;
  GgufBuilder file;
  const char* message;
};

std::vector<Bad> bad_vocabularies() {
  const auto with_tokens = [](const Texts& tokens) {
    GgufBuilder b;
    b.text("tokenizer.ggml.model", "gpt2").text("tokenizer.ggml.pre", "gpt-2");
    if (!tokens.empty()) b.texts("tokenizer.ggml.tokens", tokens);
    return b;
  };
  return {
      {"none", GgufBuilder(), "has no tokenizer (tokenizer.ggml.model)"},
      {"bert", GgufBuilder().text("tokenizer.ggml.model", "bert"), "of the kind \"bert\""},
      {"no pre-tokeniser", byte_level(""), "names no pre-tokeniser (tokenizer.ggml.pre)"},
      {"unknown pre-tokeniser", byte_level("kimi-k2"), "the pre-tokeniser \"kimi-k2\""},
      {"hostile name", byte_level("\x1b[2J"), "the pre-tokeniser \"\\x1b[2J\""},
      {"no pieces", with_tokens({}), "has no tokenizer.ggml.tokens"},
      {"no merges", with_tokens({"a"}), "has no tokenizer.ggml.merges"},
      {"merge of one", with_tokens({"a"}).texts("tokenizer.ggml.merges", Texts{"a"}),
       "merge 0 is \"a\", not two pieces"},
      {"merge of strangers", with_tokens({"a"}).texts("tokenizer.ggml.merges", Texts{"a z"}),
       "`z`"},
      {"a piece twice", with_tokens({"a", "b", "a"}), "tokens 0 and 2 are both \"a\""},
      {"a piece that is no text", with_tokens({"a", "\xFF"}), "token 1 is not UTF-8: \"\\xff\""},
      {"BOS outside", byte_level().u32("tokenizer.ggml.padding_token_id", 8),
       "tokenizer.ggml.padding_token_id is 8, outside the vocabulary of 8"},
      {"EOS not named",
       with_tokens({"a", "b", "ab"})
           .texts("tokenizer.ggml.merges", Texts{"a b"})
           .flag("tokenizer.ggml.add_eos_token", true),
       "tokenizer.ggml.eos_token_id is to be added, but not named"},
      {"too few types",
       with_tokens({"a", "b"}).numbers<int32_t>("tokenizer.ggml.token_type", 5, {1}),
       "1 token types for 2 tokens"},
      {"no scores",
       GgufBuilder()
           .text("tokenizer.ggml.model", "llama")
           .texts("tokenizer.ggml.tokens", Texts{"a"}),
       "0 scores (tokenizer.ggml.scores) for 1 tokens"},
      {"pieces of another type",
       GgufBuilder()
           .text("tokenizer.ggml.model", "gpt2")
           .text("tokenizer.ggml.pre", "gpt-2")
           .u32("tokenizer.ggml.tokens", 7),
       "tokenizer.ggml.tokens"},
  };
}

TEST(Tokenizer, RefusesBadVocabularies) {
  const auto table = bad_vocabularies();
  for (const Bad& bad : table) {
    SCOPED_TRACE(bad.name);
    expect_error<Error>([&] { from_gguf(bad.file); }, bad.message);
  }
  ckpt::test::report_cases("bad vocabularies", table.size(), 16);
}

TEST(Tokenizer, RefusesBadDocuments) {
  const auto with_decoder = [](const std::string& decoder) {
    return R"({"model": {"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "a"}, "decoder": )" +
           decoder + "}";
  };
  const std::pair<std::string, const char*> table[] = {
      {"", "x.json: EOF"},
      {"{}", "x.json: Model missing"},
      {"[]", "x.json: invalid type"},
      {R"({"model": {"type": "Magic"}})", "x.json: "},
      {R"({"model": {"type": "BPE", "vocab": {"a": 4000000000}, "merges": []}})",
       "is too large for a file"},
      {R"({"model": {"type": "BPE", "dropout": 0.5, "vocab": {"a": 0}, "merges": []}})", "dropout"},
      {with_decoder("null"), "the decoder null is not known"},
      {with_decoder(R"({"type": "WordPiece", "prefix": "##", "cleanup": true})"),
       "the decoder WordPiece is not known"},
      {with_decoder(R"({"type": "Replace", "pattern": {"Regex": "a"}, "content": "b"})"),
       "Replace of a regular expression"},
      {with_decoder(R"({"type": "Strip", "content": " ", "start": 1, "stop": 0})"), "Strip"},
  };
  for (const auto& [json, message] : table)
    expect_error<Error>([&] { Tokenizer::from_json(json, "x.json"); }, message);
  ckpt::test::report_cases("bad documents", std::size(table), 10);
}

}  // namespace
}  // namespace hone::text
