#include "train/examples.h"

#include "data/jsonl.h"

namespace hone::train {
namespace {

data::Sample sample_of(std::span<const text::Message> messages, text::Learn learn,
                       const engine::Language& language) {
  text::ChatTokens t =
      text::tokenize_chat(language.tokenizer, language.chat_template(), messages, learn);
  return {std::move(t.ids), std::move(t.mask)};
}

}  // namespace

std::vector<data::Sample> load_samples(const std::vector<DataSource>& sources,
                                       const std::string& loss_on,
                                       const engine::Language& language) {
  const text::Learn learn = loss_on == "all" ? text::Learn::kAll : text::Learn::kAssistant;
  language.chat_template();  // without one, no example is to blame
  std::vector<data::Sample> samples;
  for (const DataSource& source : sources) {
    data::JsonlReader reader(source.path);
    while (const auto example = reader.next()) {
      const std::string place = fmt::format("{}:{}", source.path, reader.line());
      try {
        samples.push_back(sample_of(example->messages, learn, language));
      } catch (const Error& e) {
        throw ConfigError("{}: {}", place, e.what());
      }
      if (data::target_count(samples.back()) == 0)
        throw ConfigError("{}: the example has no token to learn", place);
    }
  }
  return samples;
}

}  // namespace hone::train
