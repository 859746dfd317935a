#include "data/jsonl.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.h"

namespace hone::data {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

std::filesystem::path temporary(const std::string& name) {
  return std::filesystem::path(testing::TempDir()) / ("hone_jsonl_" + name);
}

std::filesystem::path written(const std::string& text) {
  const std::filesystem::path path = temporary("in.jsonl");
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

// "user: hi | assistant: hello".
std::string shown(const Example& example) {
  std::string text;
  for (const text::Message& m : example.messages) {
    if (!text.empty()) text += " | ";
    text += m.role + ": " + m.content;
  }
  return text;
}

const std::string kLine =
    R"({"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "ho"}]})";

TEST(Jsonl, ReadsExamples) {
  const auto file = written(
      kLine + "\r\n\n  \t\n" +
      R"({"id": 7, "messages": [{"content": "a\n\"\u00e9\ud83d\ude00", "role": "system", "name": null}]})");
  JsonlReader reader(file);
  EXPECT_EQ(shown(reader.next().value()), "user: hi | assistant: ho");
  EXPECT_EQ(shown(reader.next().value()), "system: a\n\"\xc3\xa9\xf0\x9f\x98\x80");
  EXPECT_FALSE(reader.next().has_value());
  EXPECT_FALSE(reader.next().has_value());
}

TEST(Jsonl, AnEmptyFileHasNone) { EXPECT_TRUE(read_jsonl(written("")).empty()); }

struct Bad {
  const char *line, *error;
};

TEST(Jsonl, NamesFileLineAndFault) {
  const std::vector<Bad> lines{
      {"{", "is not JSON"},
      {"{} {}", "is not JSON"},
      {"[]", "the line is not an object"},
      {"{}", "the example has no \"messages\""},
      {R"({"messages": null})", "the example has no \"messages\""},
      {R"({"messages": []})", "not a list of at least one message"},
      {R"({"messages": {}})", "not a list of at least one message"},
      {R"({"messages": "hi"})", "not a list of at least one message"},
      {R"({"messages": [1]})", "a message is not an object"},
      {R"({"messages": [{"content": "hi"}]})", "a message has no \"role\""},
      {R"({"messages": [{"role": "user"}]})", "a message has no \"content\""},
      {R"({"messages": [{"role": "user", "content": null}]})", "a message has no \"content\""},
      {R"({"messages": [{"role": "user", "content": 5}]})", "\"content\" of a message is not text"},
      {R"({"messages": [{"role": "user", "content": [{"type": "text", "text": "x"}]}]})",
       "\"content\" of a message is not text"},
      {R"({"messages": [{"role": 5, "content": "x"}]})", "\"role\" of a message is not text"},
      {R"({"messages": [{"role": "human", "content": "x"}]})",
       "role \"human\" is none of system, user, assistant"},
      {R"({"messages": [{"role": "assistant", "content": "x", "weight": 0}]})",
       "a message has \"weight\", which cannot be trained on"},
      {R"({"messages": [{"role": "assistant", "content": "x", "tool_calls": []}]})",
       "a message has \"tool_calls\""},
      {R"({"tools": [], "messages": [{"role": "user", "content": "x"}]})",
       "the example has \"tools\""},
      {R"({"messages": [{"role": "user", "content": "x"}], "messages": []})", "appears twice"},
      {R"({"messages": [{"role": "user", "role": "user", "content": "x"}]})", "appears twice"},
      {"{\"messages\": [{\"role\": \"user\", \"content\": \"\xff\"}]}", "is not JSON"},
      {"[[[[[[[[[[[[[[[[[", "nested deeper than 16 levels"},
      {R"({"messages": [{"role": "user", "content": "\ud800"}]})", "is not JSON"},
  };
  for (const Bad& bad : lines) {
    const auto file = written(kLine + "\n\n" + bad.line + "\n" + kLine + "\n");
    EXPECT_THAT(
        [&] { read_jsonl(file); },
        ThrowsMessage<ConfigError>(testing::AllOf(
            HasSubstr(file.string() + ":3"), HasSubstr(bad.error), testing::Not(HasSubstr("\n")))))
        << bad.line;
  }
  std::printf("%zu lines\n", lines.size());
  EXPECT_GE(lines.size(), 24u);
}

TEST(Jsonl, BoundsTheLine) {
  const auto file = written(kLine + "\n" + std::string(kLine.size(), ' ') + "\n" +
                            std::string(kLine.size() + 1, ' ') + "\n");
  JsonlReader reader(file, kLine.size());
  EXPECT_TRUE(reader.next().has_value());
  EXPECT_THAT([&] { reader.next(); },
              ThrowsMessage<ConfigError>(fmt::format("{}:3: the line is longer than {} bytes",
                                                     file.string(), kLine.size())));
}

TEST(Jsonl, SaysWhichFileCannotBeRead) {
  const auto missing = temporary("missing.jsonl");
  EXPECT_THAT(
      [&] { read_jsonl(missing); },
      ThrowsMessage<FileError>("cannot open " + missing.string() + ": No such file or directory"));
  EXPECT_THAT([&] { read_jsonl(testing::TempDir()); },
              ThrowsMessage<FileError>(HasSubstr("is a folder")));
}

TEST(Jsonl, ReadsWhatItWrote) {
  const std::vector<std::string> contents{"", "plain", "a\nb\t\"c\" \\ \x01",
                                          "\xc3\xa9 \xf0\x9f\x98\x80", "module m;\nendmodule\n"};
  std::vector<Example> examples;
  for (const std::string& content : contents) {
    text::Message question, answer;
    question.role = "user", question.content = "q " + content;
    answer.role = "assistant", answer.content = content;
    examples.push_back({{question, answer}});
  }
  const auto file = temporary("out.jsonl");
  write_jsonl(file, examples);
  const std::vector<Example> again = read_jsonl(file);
  ASSERT_EQ(again.size(), examples.size());
  for (size_t i = 0; i < again.size(); ++i) EXPECT_EQ(shown(again[i]), shown(examples[i]));
}

TEST(Jsonl, WritesOneCompactLineAnExample) {
  text::Message message;
  message.role = "user", message.content = "hi\n";
  const auto file = temporary("form.jsonl");
  write_jsonl(file, std::vector<Example>{{{message}}});
  std::ifstream in(file);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  EXPECT_EQ(text, "{\"messages\":[{\"role\":\"user\",\"content\":\"hi\\n\"}]}\n");
}

TEST(Jsonl, RefusesToWriteBrokenText) {
  text::Message message;
  message.role = "user", message.content = "\xff";
  const auto file = temporary("broken.jsonl");
  std::filesystem::remove(file);
  EXPECT_THAT([&] { write_jsonl(file, std::vector<Example>{{{message}}}); },
              ThrowsMessage<ConfigError>(HasSubstr("is not UTF-8")));
  EXPECT_FALSE(std::filesystem::exists(file));
  EXPECT_THROW(write_jsonl("/no/such/folder/x.jsonl", {}), FileError);
}

}  // namespace
}  // namespace hone::data
