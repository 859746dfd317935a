#include "base/quote.h"
#include "fuzz/fuzz.h"
#include "text/tokenizer.h"

namespace hone {
namespace {

// What an accepted tokenizer promises, checked from outside: ids within the vocabulary, spans
// within the text, text that comes out as UTF-8.
void look_at_everything(const text::Tokenizer& tokenizer) {
  for (const std::string_view text : {"", "ab a", "  \n\n12 é世界😀", "<s>ab</s> b"}) {
    const auto ids = tokenizer.encode(text, /*add_special=*/true);
    for (const int32_t id : ids)
      if (id < 0 || id >= tokenizer.vocab_size()) std::abort();
    for (const auto& token : tokenizer.encode_spans(text))
      if (token.start > token.end || token.end > text.size()) std::abort();
    if (!valid_utf8(tokenizer.decode(ids, /*skip_special=*/true))) std::abort();
  }
}

const char* const kByteLevel = R"({"version": "1.0", "truncation": null, "padding": null,
"added_tokens": [{"id": 6, "content": "<s>", "single_word": false, "lstrip": false, "rstrip": true,
"normalized": false, "special": true}], "normalizer": {"type": "NFC"},
"pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "Split", "pattern": {"Regex":
"'s|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}|\\s+(?!\\S)|\\s+"}, "behavior": "Isolated", "invert": false},
{"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": false}]},
"post_processor": {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "<s>",
"type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}], "pair": [{"Sequence": {"id": "A",
"type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}], "special_tokens": {"<s>": {"id": "<s>",
"ids": [6], "tokens": ["<s>"]}}}, "decoder": {"type": "ByteLevel", "add_prefix_space": true,
"trim_offsets": true, "use_regex": true}, "model": {"type": "BPE", "dropout": null, "unk_token": null,
"continuing_subword_prefix": null, "end_of_word_suffix": null, "fuse_unk": false,
"byte_fallback": false, "ignore_merges": true, "vocab": {"a": 0, "b": 1, "ab": 2, "Ġ": 3, "Ġa": 4,
"1": 5}, "merges": [["a", "b"], ["Ġ", "a"]]}})";

const char* const kSentencePiece = R"({"added_tokens": [{"id": 0, "content": "<unk>",
"single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true}],
"normalizer": {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "▁"}, {"type":
"Replace", "pattern": {"String": " "}, "content": "▁"}]}, "pre_tokenizer": null,
"post_processor": null, "decoder": {"type": "Sequence", "decoders": [{"type": "Replace", "pattern":
{"String": "▁"}, "content": " "}, {"type": "ByteFallback"}, {"type": "Fuse"}, {"type": "Strip",
"content": " ", "start": 1, "stop": 0}]}, "model": {"type": "BPE", "unk_token": "<unk>",
"fuse_unk": true, "byte_fallback": true, "vocab": {"<unk>": 0, "▁": 1, "a": 2, "b": 3, "▁a": 4,
"<0xC3>": 5, "<0xA9>": 6}, "merges": ["▁ a"]}})";

const char* const kUnigram = R"({"normalizer": {"type": "Lowercase"}, "pre_tokenizer": {"type":
"Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": true}, "decoder": {"type":
"Sequence", "decoders": [{"type": "Fuse"}]}, "model": {"type": "Unigram", "unk_id": 0, "vocab":
[["<unk>", 0.0], ["▁", -1.5], ["a", -2.0], ["ab", -2.5]], "byte_fallback": false}})";

}  // namespace

const fuzz::Format& fuzz::format() {
  static const Format format{{kByteLevel, kSentencePiece, kUnigram},
                             {"\"type\":",
                              "\"BPE\"",
                              "\"WordPiece\"",
                              "\"WordLevel\"",
                              "\"Unigram\"",
                              "\"Split\"",
                              "\"Digits\"",
                              "\"Punctuation\"",
                              "\"Whitespace\"",
                              "\"BertPreTokenizer\"",
                              "\"UnicodeScripts\"",
                              "\"NFKC\"",
                              "\"Strip\"",
                              "\"StripAccents\"",
                              "\"Nmt\"",
                              "\"Precompiled\"",
                              "\"Removed\"",
                              "\"MergedWithPrevious\"",
                              "\"Contiguous\"",
                              "\"Regex\"",
                              "\"String\"",
                              "\"dropout\": 0.5",
                              "\"lstrip\": true",
                              "\"normalized\": true",
                              "\"single_word\": true",
                              "null",
                              "true",
                              "[",
                              "]",
                              "{",
                              "}",
                              ",",
                              ":",
                              "\"",
                              "\\u0000",
                              "\\ud800",
                              "(",
                              ")",
                              "(?=a*)",
                              "(a|a)*",
                              "{0,99999}",
                              "\\\\p{Han}",
                              "-1",
                              "1e999"}};
  return format;
}

bool fuzz::run(std::span<const std::byte> bytes) {
  return accepts([&] {
    look_at_everything(
        text::Tokenizer::from_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
  });
}

}  // namespace hone
