#include "data/format.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace hone::data {
namespace {

using testing::HasSubstr;

// "user: hi | assistant(train): ho {"tools":[1]}", or "a => b" of texts, or "1 2* 3*" of tokens.
std::string shown(const Example& e) {
  std::string text;
  if (e.kind == Example::kText) return e.prompt + " => " + e.text;
  for (size_t i = 0; i < e.tokens.ids.size(); ++i)
    text += fmt::format("{}{}{}", i > 0 ? " " : "", e.tokens.ids[i], e.tokens.mask[i] ? "*" : "");
  for (const text::Message& m : e.messages) {
    const char* train = !m.train ? "" : *m.train ? "(train)" : "(not)";
    text += fmt::format("{}{}{}: {}{}", text.empty() ? "" : " | ", m.role, train, m.content,
                        m.extra.empty() ? "" : m.extra.dump());
  }
  return text + (e.variables.empty() ? "" : " " + e.variables.dump());
}

std::string shown(std::string_view format, const char* row) {
  std::string text;
  try {
    for (const Example& e : examples_of(format_of(format), Row::parse(row)))
      text += (text.empty() ? "" : "  VS  ") + shown(e);
  } catch (const Error& e) {
    EXPECT_EQ(std::string_view(e.what()).find('\n'), std::string_view::npos) << e.what();
    return std::string("ERR ") + e.what();
  }
  return text;
}

TEST(Formats, ReadTheirRows) {
  const struct {
    const char *format, *row, *shown;
  } table[] = {
      {"messages",
       R"({"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"ho"}]})",
       "user: hi | assistant: ho"},
      {"messages",
       R"({"messages":[{"role":"assistant","content":"a","weight":0},{"role":"user","content":"b","train":true}],"tools":null})",
       "assistant(not): a | user(train): b"},
      {"messages",
       R"({"messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{\"b\":1,\"a\":2}"}}]},
        {"role":"tool","tool_call_id":"c","content":"3"}],"tools":[{"type":"function"}],"id":9})",
       R"(assistant: {"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":{"b":1,"a":2}}}]} | tool: 3{"tool_call_id":"c"} {"tools":[{"type":"function"}]})"},
      {"messages",
       R"({"messages":"[{\"role\":\"user\",\"content\":\"hi\"}]","tools":"[{\"a\":1}]","chat_template_kwargs":{"thinking":false}})",
       R"(user: hi {"thinking":false,"tools":[{"a":1}]})"},
      {"messages",
       R"({"messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}],"tools":[]})",
       "user: ab"},
      {"sharegpt",
       R"({"conversations":[{"from":"human","value":"hi"},{"from":"gpt","value":"ho","weight":1}],"system":"s"})",
       "system: s | user: hi | assistant(train): ho"},
      {"sharegpt",
       R"({"conversations":[{"from":"function_call","value":"{\"name\":\"f\",\"arguments\":{}}"},{"from":"observation","value":"o"}],"tools":"[{}]"})",
       R"(assistant: {"tool_calls":[{"type":"function","function":{"name":"f","arguments":{}}}]} | tool: o {"tools":[{}]})"},
      {"alpaca", R"({"instruction":"do","input":"","output":"done"})",
       "user: do | assistant: done"},
      {"alpaca",
       R"({"instruction":"do","input":"this","output":"done","system":"s","history":[["q","a"]]})",
       "system: s | user: q | assistant: a | user: do\n\nthis | assistant: done"},
      {"completion", R"({"prompt":"2+2=","completion":"4"})", "2+2= => 4"},
      {"completion",
       R"({"prompt":[{"role":"user","content":"q"}],"completion":[{"role":"assistant","content":"a"}]})",
       "user(not): q | assistant: a"},
      {"text", R"({"text":"all of it"})", " => all of it"},
      {"tokens", R"({"input_ids":[5,6,7]})", "5* 6* 7*"},
      {"tokens", R"({"input_ids":[5,6,7],"labels":[-100,6,-100]})", "5 6* 7"},
      {"tokens", R"({"input_ids":[0,5,6,0],"loss_mask":[1,0,true,1],"attention_mask":[0,1,1,0]})",
       "5 6*"},
      {"tokens", R"({"input_ids":[]})", ""},
      {"preference", R"({"prompt":"q","chosen":"a","rejected":"b"})", "q => a  VS  q => b"},
      {"preference",
       R"({"prompt":[{"role":"user","content":"q"}],"chosen":[{"role":"assistant","content":"a"}],"rejected":[{"role":"assistant","content":"b"}]})",
       "user(not): q | assistant: a  VS  user(not): q | assistant: b"},
      {"preference",
       R"({"prompt":"q","chosen":[{"role":"user","content":"q"},{"role":"assistant","content":"a"}],"rejected":[{"role":"user","content":"q"},{"role":"assistant","content":"b"}]})",
       "user(not): q | assistant: a  VS  user(not): q | assistant: b"},
  };
  for (const auto& row : table) EXPECT_EQ(shown(row.format, row.row), row.shown) << row.row;
  std::printf("%zu rows\n", std::size(table));
  EXPECT_GE(std::size(table), 19u);
}

TEST(Formats, SayWhatIsWrong) {
  const struct {
    const char *format, *row, *error;
  } table[] = {
      {"messages", "{}", "the row has no \"messages\", which the format messages needs"},
      {"messages", R"({"messages":null})", "the row has no \"messages\""},
      {"messages", R"({"conversations":[]})", "it looks like the format sharegpt"},
      {"messages", R"({"instruction":"a","output":"b"})",
       "the row has no \"messages\", but instruction, output: it looks like the format alpaca; say "
       "so, as in {path: FILE, format: alpaca}"},
      {"text", R"({"prompt":"a","completion":"b"})", "looks like the format completion"},
      {"text", R"({"prompt":"a","chosen":"b","rejected":"c"})", "looks like the format preference"},
      {"text", R"({"input_ids":[1]})", "looks like the format tokens"},
      {"alpaca", R"({"text":"b"})", "looks like the format text"},
      {"alpaca", R"({"messages":[]})", "looks like the format messages"},
      {"messages", R"({"messages":[]})", "not a list of at least one message"},
      {"messages", R"({"messages":{}})", "not a list of at least one message"},
      {"messages", R"({"messages":"hi"})", "is not JSON"},
      {"messages", R"({"messages":[1]})", "a message is number, not an object"},
      {"messages", R"({"messages":[{"content":"hi"}]})", "a message has no \"role\""},
      {"messages", R"({"messages":[{"role":"user"}]})", "a message has no \"content\""},
      {"messages", R"({"messages":[{"role":"user","content":null}]})",
       "a message has no \"content\""},
      {"messages", R"({"messages":[{"role":"user","content":5}]})",
       "the content of a message is number"},
      {"messages", R"({"messages":[{"role":"human","content":"x"}]})", "role \"human\" is none of"},
      {"messages", R"({"messages":[{"role":"user","content":"x","image":"y"}]})",
       "a message has \"image\""},
      {"messages", R"({"messages":[{"role":"assistant","content":"x","weight":0.5}]})",
       "not 0 or 1"},
      {"messages", R"({"messages":[{"role":"user","content":"x"}],"tools":{}})",
       "\"tools\" is not a list"},
      {"messages",
       R"({"messages":[{"role":"user","content":"x"}],"chat_template_kwargs":{"messages":1}})",
       "sets \"messages\""},
      {"sharegpt", R"({"conversations":[{"role":"user","content":"x"}]})",
       "use the format messages"},
      {"sharegpt", R"({"conversations":[{"from":"alien","value":"x"}]})", "\"from\" is \"alien\""},
      {"sharegpt", R"({"conversations":[{"from":"gpt","value":"x","likes":3}]})",
       "a message has \"likes\""},
      {"sharegpt", R"({"conversations":[{"from":"gpt","value":3}]})",
       "\"value\" is number, not text"},
      {"alpaca", R"({"instruction":3,"output":"x"})", "\"instruction\" is number, not text"},
      {"alpaca", R"({"instruction":"a","output":"x","history":[["q"]]})", "pairs of texts"},
      {"completion", R"({"prompt":"a","completion":[]})", "both must be texts"},
      {"tokens", R"({"input_ids":"x"})", "\"input_ids\" is string, not a list"},
      {"tokens", R"({"input_ids":[1.5]})", "holds \"1.5\", no token id"},
      {"tokens", R"({"input_ids":[2147483648]})", "no token id"},
      {"tokens", R"({"input_ids":[-5]})", "holds -5, no token id"},
      {"tokens", R"({"input_ids":[1,2],"labels":[1]})", "1 entries for 2 ids"},
      {"tokens", R"({"input_ids":[1,2],"labels":[2,-100]})", "label 0 is 2, but the id there is 1"},
      {"tokens", R"({"input_ids":[1,2],"loss_mask":[2,1]})", "neither 0 nor 1"},
      {"tokens", R"({"input_ids":[1],"loss_mask":[1],"labels":[1]})",
       "both \"labels\" and \"loss_mask\""},
      {"tokens", R"({"input_ids":[1,2,3],"attention_mask":[1,0,1]})", "0 in the middle"},
      {"preference", R"({"chosen":"a","rejected":"b"})", "there is no \"prompt\""},
      {"preference", R"({"chosen":"a","rejected":[]})", "must be both texts, or both lists"},
      {"preference",
       R"({"chosen":[{"role":"user","content":"a"}],"rejected":[{"role":"user","content":"b"}]})",
       "do not begin with the same message"},
      {"preference",
       R"({"prompt":"z","chosen":[{"role":"user","content":"a"}],"rejected":[{"role":"user","content":"a"}]})",
       "does not begin with the \"prompt\""},
  };
  for (const auto& row : table)
    EXPECT_THAT(shown(row.format, row.row), HasSubstr(row.error)) << row.row;
  std::printf("%zu bad rows\n", std::size(table));
  EXPECT_GE(std::size(table), 42u);
}

TEST(Formats, NameTheColumnsThatAreNotRead) {
  EXPECT_THAT(unused(format_of("text"), Row::parse(R"({"id":1,"text":"x","meta":null,"url":"u"})")),
              testing::ElementsAre("id", "url"));
}

TEST(Formats, EqualExamplesHaveEqualHashes) {
  const auto hash = [](std::string_view format, const char* row) {
    return content_hash(examples_of(format_of(format), Row::parse(row)));
  };
  EXPECT_EQ(hash("text", R"({"text":"x","id":1})"), hash("text", R"({"id":2,"text":"x"})"));
  EXPECT_NE(hash("text", R"({"text":"x"})"), hash("text", R"({"text":"y"})"));
  EXPECT_NE(hash("tokens", R"({"input_ids":[1]})"), hash("tokens", R"({"input_ids":[2]})"));
  EXPECT_EQ(hash("preference", R"({"prompt":"q","chosen":"a","rejected":"b"})"),
            hash("preference", R"({"prompt":"q","chosen":"c","rejected":"d"})"));
}

}  // namespace
}  // namespace hone::data
