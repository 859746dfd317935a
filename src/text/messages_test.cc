#include "text/messages.h"

#include <gtest/gtest.h>

#include "ckpt/expect_error.h"
#include "text/test_vocabularies.h"

namespace hone::text {
namespace {

using Messages = std::vector<Message>;

const std::string kChatMl =
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";

const Tokenizer& tokenizer() {
  static const Tokenizer kTokenizer = Tokenizer::from_gguf(ckpt::Gguf(kSmolLm2));
  return kTokenizer;
}

ChatTemplate chat(const std::string& source) { return ChatTemplate(source, "t", tokenizer()); }

// The text under the mask, runs parted by "|".
std::string learnt(const ChatTokens& tokens) {
  std::string text;
  for (size_t i = 0; i < tokens.ids.size(); ++i) {
    if (!tokens.mask[i]) continue;
    if (i > 0 && !tokens.mask[i - 1] && !text.empty()) text += "|";
    text += tokenizer().bytes(tokens.ids[i]);
  }
  return text;
}

std::string learnt(const std::string& source, const Messages& messages) {
  return learnt(tokenize_chat(tokenizer(), chat(source), messages));
}

ChatError::Kind failure(const std::string& source, const Messages& messages) {
  try {
    tokenize_chat(tokenizer(), chat(source), messages);
  } catch (const ChatError& e) {
    EXPECT_EQ(std::string_view(e.what()).find('\n'), std::string_view::npos) << e.what();
    return e.kind;
  }
  ADD_FAILURE() << "no error";
  return {};
}

TEST(TokenizeChat, IdsAreThoseOfTheWholeText) {
  const Messages messages = {{"system", "Be brief."}, {"user", "Hi"}, {"assistant", "Hello!"}};
  const ChatTokens tokens = tokenize_chat(tokenizer(), chat(kChatMl), messages);
  EXPECT_EQ(tokens.ids,
            tokenizer().encode("<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user"
                               "\nHi<|im_end|>\n<|im_start|>assistant\nHello!<|im_end|>\n",
                               false));
  EXPECT_EQ(tokens.mask.size(), tokens.ids.size());
  EXPECT_EQ(learnt(tokens), "Hello!<|im_end|>");
  EXPECT_EQ(tokens.answers, 1);
  EXPECT_EQ(tokens.ended, 1);
}

TEST(TokenizeChat, MasksWhereTheAnswersStand) {
  const std::string trimming =
      "{% for m in messages %}[{{ m.role }}] {{ m.content | trim }} {{ eos_token }}\n{% endfor %}";
  const std::string reasoning =  // looks into the answer, as reasoning models' templates do
      "{% for m in messages %}<|im_start|>{{ m.role }}\n"
      "{% if '</think>' in m.content %}<think>{{ "
      "m.content.split('</think>')[0].split('<think>')[1] }}"
      "</think>{{ m.content.split('</think>')[1] }}{% else %}{{ m.content }}{% endif %}<|im_end|>\n"
      "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";
  const std::string ended_by_the_next =  // a turn is closed when another follows
      "{% for m in messages %}{{ '<|im_end|>' if not loop.first }}<|im_start|>{{ m.role }}\n"
      "{{ m.content }}{% endfor %}";
  const std::string skipping =  // leaves out a blank answer's line
      "{% for m in messages %}<|im_start|>{{ m.role }}{% if m.content %}\n{{ m.content }}{% endif "
      "%}"
      "<|im_end|>{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant{% endif %}";
  const Messages same = {
      {"user", "a b"}, {"assistant", "a b"}, {"user", "a b"}, {"assistant", "b"}};
  const struct {
    const char* name;
    std::string source;
    Messages messages;
    const char* learnt;
  } table[] = {
      {"the same words elsewhere", kChatMl, same, "a b<|im_end|>|b<|im_end|>"},
      {"an answer in the middle",
       kChatMl,
       {{"user", "q"}, {"assistant", "a"}, {"user", "r"}},
       "a<|im_end|>"},
      {"two in a row",
       kChatMl,
       {{"assistant", "a"}, {"assistant", "b"}},
       "a<|im_end|>|b<|im_end|>"},
      {"blank", kChatMl, {{"user", "q"}, {"assistant", ""}}, "<|im_end|>"},
      {"an end of turn inside",
       kChatMl,
       {{"user", "q"}, {"assistant", "x<|im_end|>y"}},
       "x<|im_end|>y<|im_end|>"},
      {"begins with a line end",
       kChatMl,
       {{"user", "q"}, {"assistant", "\n\nx"}},
       "\n\nx<|im_end|>"},
      {"trimmed", trimming, {{"user", " q "}, {"assistant", "\u00a0 a \n"}}, " a <|im_end|>"},
      {"reasoning",
       reasoning,
       {{"user", "q"}, {"assistant", "<think>t</think>a"}},
       "<think>t</think>a<|im_end|>"},
      {"ended by the next",
       ended_by_the_next,
       {{"user", "q"}, {"assistant", "a"}, {"user", "r"}, {"assistant", "b"}},
       "a|b"},
      {"one left out",
       skipping,
       {{"user", "q"}, {"assistant", ""}, {"user", "r"}, {"assistant", "b"}},
       "<|im_end|>|b<|im_end|>"},
      {"generation tags",
       "{% for m in messages %}{% if m.role == 'assistant' %}{% generation %}{{ m.content "
       "}}<|im_end|>{% endgeneration %}{% else %}{{ m.content }}{% endif %}{% endfor %}",
       {{"user", "q"}, {"assistant", "a"}},
       "a<|im_end|>"},
  };
  for (const auto& row : table) EXPECT_EQ(learnt(row.source, row.messages), row.learnt) << row.name;
  ckpt::test::report_cases("masks", std::size(table), 11);
}

TEST(TokenizeChat, SaysWhyNot) {
  const Messages good = {{"user", "q"}, {"assistant", "a"}};
  EXPECT_EQ(failure(kChatMl, {{"user", "q"}}), ChatError::kNoAssistant);
  EXPECT_EQ(failure(kChatMl, {}), ChatError::kNoAssistant);
  EXPECT_EQ(failure("{{ raise_exception('no') }}", good), ChatError::kTemplate);
  EXPECT_EQ(failure("{{ messages[0].content }}", good), ChatError::kUnmarkable);
  EXPECT_EQ(failure("{{ messages[1].content | upper }}", good), ChatError::kUnmarkable);
  EXPECT_EQ(failure("{{ messages[1].content }}{{ messages[1].content }}", good),
            ChatError::kUnmarkable);
  EXPECT_EQ(failure("{{ bos_token }}" + kChatMl, good), ChatError::kDoubledBos);
}

TEST(TokenizeChat, LearnsAll) {
  const Messages messages = {{"user", "q"}};
  const ChatTokens tokens = tokenize_chat(tokenizer(), chat(kChatMl), messages, Learn::kAll);
  EXPECT_EQ(tokens.ids, tokenizer().encode("<|im_start|>user\nq<|im_end|>\n", false));
  EXPECT_EQ(std::ranges::count(tokens.mask, 1), static_cast<long>(tokens.ids.size()));
}

// What is generated goes on where training did: also when the whole text would merge over the
// joint.
TEST(TokenizePrompt, IsTheFrontOfTheConversation) {
  const ChatTemplate chat_ml = chat(kChatMl);
  size_t count = 0;
  for (const char* const answer : {"Hello", "\n", "\n\nx", " x", "", "'s", "\tx", "1", "你好"}) {
    const Messages messages = {
        {"user", "q"}, {"assistant", answer}, {"user", "r"}, {"assistant", answer}};
    const ChatTokens whole = tokenize_chat(tokenizer(), chat_ml, messages);
    for (const size_t upto : {1u, 3u}) {
      auto prompt = tokenize_prompt(tokenizer(), chat_ml, std::span(messages).first(upto));
      ASSERT_LE(prompt.size(), whole.ids.size());
      EXPECT_TRUE(std::ranges::equal(prompt, std::span(whole.ids).first(prompt.size())))
          << answer << upto;
      ++count;
    }
  }
  EXPECT_EQ(count, 18u);
}

TEST(TokenizePrompt, TakesVariables) {
  const ChatTemplate t = chat("{{ mood }}{% if add_generation_prompt %}!{% endif %}");
  EXPECT_EQ(
      tokenize_prompt(tokenizer(), t, Messages{{"user", "q"}}, {.variables = {{"mood", "calm"}}}),
      tokenizer().encode("calm!", false));
}

}  // namespace
}  // namespace hone::text
