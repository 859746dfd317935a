#include "data/jsonl.h"

#include "base/error.h"
#include "ckpt/atomic_file.h"

namespace hone::data {

void write_jsonl(const std::filesystem::path& file, std::span<const Example> examples) {
  std::string text;
  for (const Example& example : examples) {
    nlohmann::ordered_json messages = nlohmann::ordered_json::array();
    for (const text::Message& m : example.messages) messages.push_back(text::to_json(m));
    try {
      text += nlohmann::ordered_json{{"messages", std::move(messages)}}.dump() + "\n";
    } catch (const nlohmann::json::exception&) {
      throw ConfigError("{}: a message is not UTF-8", file.string());
    }
  }
  ckpt::write_atomically(file, text);
}

}  // namespace hone::data
