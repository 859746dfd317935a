// An example to tokens, by the rules of its kind.
#pragma once

#include "data/example.h"
#include "text/messages.h"

namespace hone::data {

// What tokenising depends on; the tokenizer and the template must outlive it.
struct Tokenising {
  const text::Tokenizer& tokenizer;
  const text::ChatTemplate* chat = nullptr;  // of the model, where it has one
  text::Learn learn = text::Learn::kAssistant;
};

struct Tokenised {
  Sample sample;
  bool ends = false;  // the end of a turn, or of a text, is learnt
};

// kChat: as text::tokenize_chat(). kText: BOS where the tokenizer adds one, the prompt, the text
// and EOS, each tokenised by itself; the text and EOS are learnt, the prompt with Learn::all only.
// kTokens: as they are. Throws ConfigError, also when no token would be learnt.
Tokenised tokenise(const Example& example, const Tokenising& t);

}  // namespace hone::data
