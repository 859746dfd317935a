#include "engine/gguf_model.h"

#include <algorithm>
#include <set>
#include <vector>

#include "base/error.h"

namespace hone::engine {
namespace {

// llama.cpp's table of divisors of the rotary frequencies, for models with rope scaling.
constexpr std::string_view kRopeDivisors = "rope_freqs.weight";

void put(nlohmann::json& config, std::string_view path, nlohmann::json value) {
  const size_t dot = path.find('.');
  if (dot == std::string_view::npos)
    config[std::string(path)] = std::move(value);
  else
    put(config[std::string(path.substr(0, dot))], path.substr(dot + 1), std::move(value));
}

std::string at_layer(std::string_view pattern, int64_t layer) {
  std::string s(pattern);
  if (const size_t hole = s.find("{}"); hole != std::string::npos)
    s.replace(hole, 2, std::to_string(layer));
  return s;
}

}  // namespace

nlohmann::json config_of(const ckpt::Gguf& gguf, const Family& family) {
  nlohmann::json config{{"model_type", family.model_type}};
  for (const GgufNames::Key& k : family.gguf.keys) {
    const std::string key = fmt::format("{}.{}", family.gguf.architecture, k.gguf);
    switch (k.kind) {
      case GgufNames::Kind::kInteger:
        if (auto v = gguf.integer(key)) put(config, k.config, *v);
        break;
      case GgufNames::Kind::kIntegers:
        if (gguf.is_array(key))
          put(config, k.config, gguf.integers(key));
        else if (auto v = gguf.integer(key))
          put(config, k.config, *v);
        break;
      case GgufNames::Kind::kReal:
        if (auto v = gguf.real(key)) put(config, k.config, *v);
        break;
      case GgufNames::Kind::kText:
        if (auto v = gguf.text(key); v && *v != "none") put(config, k.config, *v);
        break;
    }
  }
  for (std::string_view key : family.gguf.always) config[std::string(key)] = true;
  const ckpt::GgufTensor* table = gguf.find("token_embd.weight");
  if (table != nullptr && !table->dims.empty()) config["vocab_size"] = table->dims[0];
  config["tie_word_embeddings"] = gguf.find("output.weight") == nullptr;
  if (const ckpt::GgufTensor* t = gguf.find(kRopeDivisors); t != nullptr && t->dims.size() == 1) {
    std::vector<float> divisors(static_cast<size_t>(t->dims[0]));
    ckpt::dequantise(t->type, t->bytes, divisors);
    config["rope_divisors"] = divisors;
  }
  if (family.gguf.finish != nullptr)
    family.gguf.finish(config, [&](std::string_view name) { return gguf.find(name) != nullptr; });
  return config;
}

std::map<std::string, GgufSource, std::less<>> tensors_of(const ckpt::Gguf& gguf,
                                                          const Family& family, int64_t layers) {
  std::map<std::string, GgufSource, std::less<>> result;
  std::set<std::string, std::less<>> known{std::string(kRopeDivisors)};
  for (const GgufNames::Tensor& t : family.gguf.tensors) {
    const bool repeats = t.gguf.find("{}") != std::string_view::npos;
    for (int64_t layer = 0; layer < (repeats ? layers : 1); ++layer) {
      const std::string from = at_layer(t.gguf, layer);
      if (gguf.find(from) != nullptr) result[at_layer(t.checkpoint, layer)] = {from, t.order};
      known.insert(from);
    }
  }
  for (const ckpt::GgufTensor& t : gguf.tensors())
    if (!known.contains(t.name))
      throw ConfigError("{}: tensor \"{}\" is none that the {} family knows", gguf.path(), t.name,
                        family.model_type);
  return result;
}

void undo_interleaving(std::span<float> rows, int64_t heads, int64_t head_dim, int64_t columns) {
  const auto row = static_cast<size_t>(columns), head = static_cast<size_t>(head_dim) * row;
  const size_t half = static_cast<size_t>(head_dim) / 2;
  std::vector<float> sorted(head);
  for (size_t h = 0; h < static_cast<size_t>(heads); ++h) {
    const std::span<float> own = rows.subspan(h * head, head);
    for (size_t i = 0; i < half; ++i) {
      std::ranges::copy(own.subspan(2 * i * row, row), sorted.begin() + static_cast<long>(i * row));
      std::ranges::copy(own.subspan((2 * i + 1) * row, row),
                        sorted.begin() + static_cast<long>((half + i) * row));
    }
    std::ranges::copy(sorted, own.begin());
  }
}

}  // namespace hone::engine
