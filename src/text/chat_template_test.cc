#include "text/chat_template.h"

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

const Tokenizer& tokenizer() {
  static const Tokenizer kTokenizer = Tokenizer::from_gguf(ckpt::Gguf(kSmolLm2));
  return kTokenizer;
}

std::string render(const std::string& source, const RenderOptions& options = {},
                   const std::vector<Message>& messages = {{"user", "Hi"}}) {
  return ChatTemplate(source, "t", tokenizer()).render(messages, options);
}

TEST(ChatTemplate, OfTheRealModel) {
  const auto chat = ChatTemplate::from_gguf(ckpt::Gguf(kSmolLm2), tokenizer());
  ASSERT_TRUE(chat);
  EXPECT_EQ(chat->render(std::vector<Message>{{"user", "Hi"}}, {.add_generation_prompt = true}),
            "<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging "
            "Face<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n");
}

// A moment in 2024 (a leap year), in 1969 and in 2100 (none).
constexpr int64_t kNow = 1709214309, kBefore = -1, kLater = 4107542400;

TEST(ChatTemplate, SpeaksPython) {
  const std::pair<const char*, const char*> table[] = {
      {"{{ messages[0].content.upper() }}{{ messages[0]['role'] }}", "HIuser"},
      {"  {% if true %}\n  x\n  {% endif %}\ny", "  x\ny"},  // trim_blocks, lstrip_blocks
      {"{% for i in range(9) %}{% if i == 2 %}{% continue %}{% endif %}{% if i == 4 %}{% break %}"
       "{% endif %}{{ i }}{% endfor %}",
       "013"},
      {"a{% generation %}b{% endgeneration %}c", "abc"},
      {"a {%- generation -%} b {%- endgeneration -%} c", "abc"},
      {"{{ true }} {{ none }} {{ 1.0 }} {{ 1e-05 }} {{ 1e16 }} {{ 0.1 }}",
       "True None 1.0 1e-05 1e+16 0.1"},
      {"{{ ['a', 1, none, 1e-05] }} {{ {'k': \"it's\"} }}",
       "['a', 1, None, 1e-05] {'k': \"it's\"}"},
      {"{{ 1e-05 | string }}", "1e-05"},
      {"{{ {'b': '<é>', 'a': [1, 2.5, true, none]} | tojson }}",
       "{\"b\": \"<é>\", \"a\": [1, 2.5, true, null]}"},
      {"{{ {'b': 1, 'a': []} | tojson(indent=2, sort_keys=true) }}",
       "{\n  \"a\": [],\n  \"b\": 1\n}"},
      {"{{ ['é', '😀', '\\n\\x07'] | tojson(ensure_ascii=true) }}",
       "[\"\\u00e9\", \"\\ud83d\\ude00\", \"\\n\\u0007\"]"},
      {"{{ [1, {'a': 2}] | tojson(separators=(',', ':')) }}", "[1,{\"a\":2}]"},
      {"{{ tools is none }} {{ tools is iterable }} {{ 'x' is iterable }} {{ nothing is defined }}",
       "True False True False"},
      {"{% set ns = namespace(n=0) %}{% for m in messages %}{% set ns.n = ns.n + 1 %}{% endfor %}"
       "{{ ns.n }}",
       "1"},
      {"{{ bos_token }}{{ eos_token }}", "<|im_start|><|im_end|>"},
      {"{{ 'a,b'.split(',')[1] }}{{ ' x '.strip() }}{{ 'abc'.startswith('ab') }}", "bxTrue"},
      {"{{ strftime_now('%d %b %Y %H:%M:%S %A %j %-d') }}", "29 Feb 2024 13:45:09 Thursday 060 29"},
  };
  for (const auto& [source, text] : table) EXPECT_EQ(render(source, {.now = kNow}), text) << source;
  ckpt::test::report_cases("Python in templates", std::size(table), 17);
  EXPECT_EQ(render("{{ strftime_now('%F %T %a') }}", {.now = kBefore}), "1969-12-31 23:59:59 Wed");
  EXPECT_EQ(render("{{ strftime_now('%Y-%m-%d %I %p') }}", {.now = kLater}), "2100-03-01 12 AM");
}

TEST(ChatTemplate, GivesVariablesAndExtraFields) {
  const RenderOptions options{
      .variables = {{"tools", {{{"name", "f"}}}}, {"enable_thinking", false}}};
  EXPECT_EQ(render("{{ tools | tojson }} {{ enable_thinking }}", options),
            "[{\"name\": \"f\"}] False");
  const Message message =
      message_from_json({{"role", "assistant"},
                         {"content", nullptr},
                         {"tool_calls", {{{"name", "f"}, {"arguments", {{"z", 1}, {"a", 2}}}}}}});
  EXPECT_EQ(render("{{ messages[0].tool_calls[0].arguments | tojson }}", {}, {message}),
            "{\"z\": 1, \"a\": 2}");
}

TEST(ChatTemplate, SaysWhatIsWrongInOneLine) {
  const std::pair<const char*, const char*> table[] = {
      {"{% if %}", "t: line 1: syntax error"},
      {"a\nb {{ 1 + }}", "t: line 2: syntax error"},
      {"{% for x in y %}", "t: line 1: syntax error"},
      {"{{ raise_exception('no\nsystem') }}", "t: the template refuses: no system"},
      {"{{ messages[5].content }}", "t: line 1: undefined"},
      {"{{ nothing.at.all }}", "t: line 1: undefined"},
      {"{{ 'a' + 1 }}", "t: line 1: invalid operation"},
      {"{{ 1 | no_such_filter }}", "no_such_filter"},
      {"{{ no_such_function() }}", "no_such_function"},
      {"{{ strftime_now('%Q') }}", "%Q is not known"},
      {"{% include 'passwd' %}", "unknown statement include"},
      {"{% import 'os' as os %}", "unknown statement import"},
      {"{{ ''.__class__.__mro__ }}", "undefined"},
      {"{{ messages.__class__.__base__.__subclasses__() }}", "undefined"},
  };
  for (const auto& [source, message] : table) {
    SCOPED_TRACE(source);
    expect_error<TemplateError>([&] { render(source); }, message);
  }
  ckpt::test::report_cases("wrong templates", std::size(table), 14);
  expect_error<TemplateError>([] { render("x", {}, {{"user", "\xFF"}}); },
                              "a message is not UTF-8");
}

std::string nested(const std::string& open, const std::string& close, int depth) {
  std::string text;
  for (int i = 0; i < depth; ++i) text += open;
  for (int i = 0; i < depth; ++i) text += close;
  return text;
}

std::string repeated(const std::string& part, int times) {
  std::string text;
  for (int i = 0; i < times; ++i) text += part;
  return text;
}

// Each would take hours or all memory; the budget ends it.
TEST(ChatTemplate, HostileOnesAreStopped) {
  const std::string work = "does more work than is allowed";
  const std::pair<std::string, std::string> table[] = {
      {"{% for i in range(1000000000) %}x{% endfor %}", ""},
      {"{{ range(1000000000) | list | length }}", ""},
      {"{% for a in range(9999) %}{% for b in range(9999) %}{% endfor %}{% endfor %}", work},
      {"{% set s = 'x' %}" + repeated("{% set s = s ~ s %}", 60) + "{{ s }}", work},
      {"{% set s = 'x' %}" + repeated("{% set s = s + s %}", 60), work},
      {"{% set s = ['x'] %}" + repeated("{% set s = s + s %}", 60), work},
      {"{% set ns = namespace(s='x') %}{% for i in range(99) %}{% set ns.s = ns.s ~ ns.s %}{% "
       "endfor %}",
       work},
      {repeated("{% set s %}{{ s }}{{ s }}xxxxxxxx{% endset %}", 60), work},
      {"{{ 'x' * 1000000000 }}", ""},
      {"{{ ('x' * 100000000) | length }}", ""},
      {"{{ 'x' | center(1000000000) }}", ""},
      {"{{ '%1000000000d' | format(1) }}", ""},
      {"{{ 'aaaaaaaaaa'.replace('a', 'b' * 99999).replace('b', 'c' * 99999) }}", ""},
      {"{{ (range(99999) | list) | join('x' * 99999) }}", ""},
      {"{{ 'a' | indent(1000000000, true) }}", ""},
      {"{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", ""},
      {"{% macro m(n) %}{{ m(n + 1) }}{{ m(n + 1) }}{% endmacro %}{{ m(0) }}", ""},
      {"{% for x in [[[]]] recursive %}{{ loop([x]) }}{% endfor %}", ""},
      {"{{ 2 ** 99999999999 }}", ""},
      {"{{ " + nested("(", ")", 100'000) + " }}", ""},
      {"{{ " + nested("[", "]", 100'000) + " }}", ""},
      {nested("{% if 1 %}", "{% endif %}", 20'000), ""},
      {"{{ 1" + repeated(" + 1", 1'000'000) + " }}", ""},
      {"{% set a = {} %}" + repeated("{% set a = {'k': [a, a]} %}", 60) + "{{ a | tojson }}", ""},
      {"{% set a = [] %}" + repeated("{% set a = [a, a] %}", 60) + "{{ a }}", ""},
      {"{% set a = [] %}" + repeated("{% set a = [a, a] %}", 60) + "{{ a | string | length }}", ""},
  };
  for (const auto& [source, message] : table) {
    SCOPED_TRACE(source.substr(0, 100));
    expect_error<TemplateError>([&] { render(source); }, message);
  }
  ckpt::test::report_cases("hostile templates", std::size(table), 26);
}

// The parser goes a call deeper at each.
TEST(ChatTemplate, DeepOnesDoNotOverflowTheStack) {
  EXPECT_EQ(render("{{ " + repeated("not ", 100'000) + "1 }}"), "True");
  EXPECT_EQ(render("{{ " + repeated("-", 100'000) + "1 }}"), "1");
}

TEST(ChatTemplate, OutputIsCapped) {
  const std::string megabyte(1 << 20, 'x');
  EXPECT_EQ(render("{{ messages[0].content }}", {}, {{"user", megabyte}}), megabyte);
  expect_error<TemplateError>(
      [&] {
        render("{% for i in range(40) %}{{ messages[0].content }}{% endfor %}", {},
               {{"user", megabyte}});
      },
      "");
}

TEST(ChatTemplate, ComesFromAFolder) {
  const TempFolder folder;
  const auto found = [&](std::string_view variant = "default") -> std::string {
    const auto chat = ChatTemplate::from_folder(folder.path(), tokenizer(), variant);
    return chat ? chat->render(std::vector<Message>()) : "none";
  };
  EXPECT_EQ(found(), "none");
  write_file(folder / "tokenizer_config.json", R"({"chat_template": null})");
  EXPECT_EQ(found(), "none");
  write_file(folder / "tokenizer_config.json", R"({"chat_template": "one"})");
  EXPECT_EQ(found(), "one");
  EXPECT_EQ(found("rag"), "none");
  write_file(folder / "tokenizer_config.json",
             R"({"chat_template": [{"name": "rag", "template": "two"},
                                   {"name": "default", "template": "three"}]})");
  EXPECT_EQ(found(), "three");
  EXPECT_EQ(found("rag"), "two");
  write_file(folder / "chat_template.jinja", "four");
  EXPECT_EQ(found(), "four");
  EXPECT_EQ(found("rag"), "two");
}

TEST(ChatTemplate, ComesFromGguf) {
  const std::string bytes = GgufBuilder()
                                .text("tokenizer.chat_template", "one")
                                .text("tokenizer.chat_template.rag", "two")
                                .build();
  const ckpt::Gguf file(bytes_of(bytes), "x.gguf");
  const auto found = [&](std::string_view variant) -> std::string {
    const auto chat = ChatTemplate::from_gguf(file, tokenizer(), variant);
    return chat ? chat->render(std::vector<Message>()) : "none";
  };
  EXPECT_EQ(found("default"), "one");
  EXPECT_EQ(found("rag"), "two");
  EXPECT_EQ(found("tool_use"), "none");
}

TEST(Message, FromJson) {
  using Json = nlohmann::ordered_json;
  const Message m = message_from_json({{"role", "tool"}, {"name", "f"}, {"content", "x"}});
  EXPECT_EQ(m, (Message{"tool", "x", {{"name", "f"}}}));
  EXPECT_EQ(to_json(m).dump(), R"({"role":"tool","content":"x","name":"f"})");
  EXPECT_EQ(message_from_json({{"role", "user"}}), (Message{"user", ""}));
  EXPECT_EQ(message_from_json({{"role", "user"}, {"name", nullptr}, {"tool_calls", Json::array()}}),
            (Message{"user", ""}));
  const Message parts = message_from_json(Json::parse(
      R"({"role": "assistant", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}],
          "weight": 0, "tool_calls": [{"function": {"name": "f", "arguments": "{\"x\": 1}"}}]})"));
  EXPECT_EQ(parts.content, "ab");
  EXPECT_EQ(parts.train, false);
  EXPECT_EQ(to_json(parts).dump(),
            R"({"role":"assistant","content":"ab",)"
            R"("tool_calls":[{"function":{"name":"f","arguments":{"x":1}}}]})");
  const std::pair<nlohmann::ordered_json, const char*> table[] = {
      {"x", "a message is string, not an object"},
      {{{"content", "x"}}, "no \"role\""},
      {{{"role", 1}}, "no \"role\""},
      {{{"role", "user"}, {"content", 1}}, "the content of a message is number, not text"},
      {{{"role", "user"}, {"content", {1}}}, "a part of a message's content is not text"},
      {{{"role", "user"}, {"content", {{{"type", "image_url"}}}}}, "is not text"},
      {{{"role", "human"}}, "role \"human\" is none of system, developer, user, assistant, tool"},
      {{{"role", "user"}, {"contents", "x"}}, "a message has \"contents\""},
      {{{"role", "user"}, {"weight", 0.5}}, "\"weight\" of a message is \"0.5\", not 0 or 1"},
      {{{"role", "user"}, {"train", 1}}, "\"train\" of a message is \"1\", not true or false"},
      {{{"role", "user"}, {"tool_calls", "x"}}, "\"tool_calls\" is string, not a list"},
      {{{"role", "user"}, {"tool_calls", {1}}}, "a tool call is number, not an object"},
      {{{"role", "user"}, {"tool_calls", {{{"function", 1}}}}}, "is not an object"},
      {{{"role", "user"}, {"tool_calls", {{{"name", 1}}}}}, "a tool call has no name"},
      {{{"role", "user"}, {"tool_calls", {{{"name", "f"}, {"arguments", "[1]"}}}}},
       "the arguments of a tool call are no JSON object"},
      {{{"role", "user"}, {"tool_calls", {{{"name", "f"}, {"arguments", 1}}}}}, "are number"}};
  for (const auto& [json, message] : table)
    expect_error<ConfigError>([&] { message_from_json(json); }, message);
}

}  // namespace
}  // namespace hone::text
