// What jinja2 renders for the chat templates that llama.cpp ships (tools/golden_templates.py).
#include <gtest/gtest.h>

#include <iostream>
#include <map>
#include <sstream>

#include "base/sha256.h"
#include "text/chat_template.h"
#include "text/test_vocabularies.h"

namespace hone::text {
namespace {

using Json = nlohmann::ordered_json;

// Where we are known to give another text, or one where jinja2 gives none.
const std::map<std::string, std::string> kExceptions = {
    {"CohereForAI-c4ai-command-r-plus-tool_use.jinja", "without tools: jinja2 cannot walk None"},
    {"NousResearch-Hermes-2-Pro-Llama-3-8B-tool_use.jinja", "the same"},
    {"NousResearch-Hermes-3-Llama-3.1-8B-tool_use.jinja", "the same"},
    {"llama-cpp-deepseek-r1.jinja", "with tools: json.dumps cannot write what map() gives"},
    {"meetkai-functionary-medium-v3.1.jinja",
     "with tools: jinja2 escapes for HTML what is added to a |safe text"}};

struct Conversation {
  std::vector<Message> messages;
  RenderOptions options;

  Conversation(const Json& json, int64_t now) {
    for (const auto& m : json.at("messages")) messages.push_back(message_from_json(m));
    options = {.add_generation_prompt = json.value("add_generation_prompt", false),
               .now = now,
               .variables = json.value("variables", Json::object())};
  }
};

// As in the golden file: the start of a digest, "-" for a refusal.
std::string outcome(const ChatTemplate& chat_template, const Conversation& c) {
  try {
    return sha256(chat_template.render(c.messages, c.options)).substr(0, 12);
  } catch (const TemplateError&) {
    return "-";
  }
}

TEST(GoldenTemplates, RenderAsJinja2Does) {
  const auto folder = vocabularies() / "templates";
  if (!exists(folder)) GTEST_SKIP() << "no " << folder << ": set-up fetches it";
  const Tokenizer tokenizer = Tokenizer::from_gguf(ckpt::Gguf(kSmolLm2));
  const Json golden = Json::parse(read_file("tests/golden/templates.json"));
  std::vector<Conversation> conversations;
  for (const auto& c : golden.at("conversations")) conversations.emplace_back(c, golden.at("now"));

  size_t templates = 0, equal = 0, refused = 0, excepted = 0;
  for (const auto& [name, outcomes] : golden.at("texts").items()) {
    const ChatTemplate chat_template(read_file(folder / name), name, tokenizer);
    std::istringstream expected(outcomes.get<std::string>());
    for (size_t i = 0; i < conversations.size(); ++i) {
      std::string wanted;
      expected >> wanted;
      const std::string got = outcome(chat_template, conversations[i]);
      if (got == wanted)
        ++(got == "-" ? refused : equal);
      else if (kExceptions.contains(name))
        ++excepted;
      else
        ADD_FAILURE() << name << ", conversation " << i << ": " << got << ", not " << wanted;
    }
    ++templates;
  }
  std::cout << templates << " templates, " << equal << " texts as jinja2's, " << refused
            << " refused as by jinja2, " << excepted << " known to differ\n";
  EXPECT_GE(templates, 70u);
  EXPECT_GE(equal, 1290u);
  EXPECT_LE(excepted, 60u);
}

}  // namespace
}  // namespace hone::text
