#include "data/tokenise.h"

#include <algorithm>

#include "base/error.h"

namespace hone::data {
namespace {

Tokenised chat(const Example& e, const Tokenising& t) {
  if (t.chat == nullptr)
    throw ConfigError(
        "the example is a chat, and the model has no chat template; use the format "
        "completion or text");
  text::ChatTokens tokens =
      text::tokenize_chat(t.tokenizer, *t.chat, e.messages, t.learn, {.variables = e.variables});
  return {{std::move(tokens.ids), std::move(tokens.mask)}, tokens.ended > 0};
}

bool learns_texts(const text::Learn& learn) {
  return learn.all || learn.last_turn ||
         std::ranges::find(learn.roles, "assistant") != learn.roles.end();
}

void append(Sample& sample, const std::vector<int32_t>& ids, bool learnt) {
  sample.ids.insert(sample.ids.end(), ids.begin(), ids.end());
  sample.mask.insert(sample.mask.end(), ids.size(), learnt ? 1 : 0);
}

// A tokenizer that puts a space before a text would put one between the prompt and the answer.
void append_whole(Sample& sample, const Example& e, const Tokenising& t) {
  for (const text::SpannedToken& token : t.tokenizer.encode_spans(e.prompt + e.text)) {
    sample.ids.push_back(token.id);
    sample.mask.push_back(t.learn.all || token.start >= e.prompt.size() ? 1 : 0);
  }
}

Tokenised text(const Example& e, const Tokenising& t) {
  if (!learns_texts(t.learn))
    throw ConfigError(
        "the example is a text without roles; data.loss_on must name assistant or all");
  const text::SpecialIds& special = t.tokenizer.special_ids();
  Tokenised result;
  Sample& sample = result.sample;
  if (t.tokenizer.adds_bos() && special.bos) append(sample, {*special.bos}, t.learn.all);
  if (t.tokenizer.adds_space()) {
    append_whole(sample, e, t);
  } else {
    append(sample, t.tokenizer.encode(e.prompt, false), t.learn.all);
    append(sample, t.tokenizer.encode(e.text, false), true);
  }
  if (special.eos) append(sample, {*special.eos}, true);
  if (special.bos && sample.ids.size() > 1 && sample.ids[0] == *special.bos &&
      sample.ids[1] == *special.bos)
    throw ConfigError("the text begins with {}, which is added to it",
                      t.tokenizer.token(*special.bos));
  result.ends = special.eos.has_value();
  return result;
}

Tokenised tokens(const Example& e, const Tokenising& t) {
  const text::SpecialIds& special = t.tokenizer.special_ids();
  Tokenised result{e.tokens};
  for (size_t i = 0; i < e.tokens.ids.size(); ++i) {
    const int32_t id = e.tokens.ids[i];
    if (id >= t.tokenizer.vocab_size())
      throw ConfigError("the id {} is outside the vocabulary of {}", id, t.tokenizer.vocab_size());
    result.ends |= e.tokens.mask[i] != 0 && (id == special.eos || id == special.eot);
  }
  return result;
}

}  // namespace

Tokenised tokenise(const Example& example, const Tokenising& t) {
  Tokenised result = example.kind == Example::kChat   ? chat(example, t)
                     : example.kind == Example::kText ? text(example, t)
                                                      : tokens(example, t);
  if (target_count(result.sample) == 0) throw ConfigError("the example has no token to learn");
  return result;
}

}  // namespace hone::data
