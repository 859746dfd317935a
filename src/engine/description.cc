#include "engine/description.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/generator.h"
#include "engine/language.h"

namespace hone::engine {
namespace {

namespace fs = std::filesystem;

uint64_t bytes_of_weights(const ModelFiles& files) {
  if (files.gguf() != nullptr) return fs::file_size(files.path());
  uint64_t bytes = 0;
  for (const auto& entry : fs::directory_iterator(files.path()))
    if (entry.path().extension() == ".safetensors") bytes += entry.file_size();
  return bytes;
}

void describe_weights(const ModelFiles& files, Description& d) {
  Graph graph;
  nn::Params params{.graph = graph};
  files.build(nn::Scope(params));
  std::vector<ModelFiles::Declared> declared;
  d.tied = true;
  for (const nn::FrozenWeight& w : params.frozen) {
    files.check_weight(w.name, w.dims);
    declared.emplace_back(w.name, w.dims);
    const int64_t size = Type{DType::kF32, w.dims}.size();
    d.parameters += size;
    d.stored[std::string(files.stored(w.name))] += size;
    if (w.name == "lm_head.weight") d.tied = false;
  }
  files.check_all_used(declared);
}

void describe_language(const ModelFiles& files, Description& d) try {
  const Language language = Language::of(files);
  const text::Tokenizer& t = language.tokenizer;
  d.tokens = t.vocab_size();
  d.adds_bos = t.adds_bos();
  d.has_template = language.chat.has_value();
  const auto add = [&](const char* role, std::optional<int32_t> id) {
    if (id) d.special.push_back({role, std::string(t.token(*id)), *id});
  };
  const text::SpecialIds& ids = t.special_ids();
  add("bos", ids.bos);
  add("eos", ids.eos);
  add("eot", ids.eot);
  add("pad", ids.pad);
  add("unk", ids.unk);
  for (const int32_t id : language.stop_tokens)
    if (std::ranges::find(d.special, id, &Description::Token::id) == d.special.end() &&
        id < t.vocab_size())
      add("stop", id);
} catch (const Error& e) {
  d.tokenizer_problem = e.what();
}

// Layers that hold keys and values of one size, together: "30 of 3 x 64".
std::vector<std::pair<ModelShape::KvHeads, int64_t>> caches(const ModelShape& shape) {
  std::vector<std::pair<ModelShape::KvHeads, int64_t>> kinds;
  for (const ModelShape::KvHeads& kv : shape.kv) {
    const auto it = std::ranges::find_if(kinds, [&](const auto& k) { return k.first == kv; });
    if (it == kinds.end())
      kinds.emplace_back(kv, 1);
    else
      ++it->second;
  }
  return kinds;
}

// 134515008 -> "134.5 M"
std::string rounded(double n, double step, std::span<const char* const> units) {
  size_t i = 0;
  while (n >= step && i + 1 < units.size()) {
    n /= step;
    ++i;
  }
  return fmt::format("{:.{}f} {}", n, i == 0 ? 0 : 1, units[i]);
}

std::string count_text(int64_t n) {
  constexpr const char* kUnits[] = {"numbers", "k", "M", "B", "T"};
  return rounded(static_cast<double>(n), 1000, kUnits);
}

std::string bytes_text(uint64_t n) {
  constexpr const char* kUnits[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  return rounded(static_cast<double>(n), 1024, kUnits);
}

// Lengths at which the cache is told: a usual one, and the longest.
std::vector<int64_t> lengths(const ModelShape& shape) {
  if (shape.max_positions <= 4096) return {shape.max_positions};
  return {4096, shape.max_positions};
}

}  // namespace

Description describe_model(const ModelFiles& files) {
  Description d;
  d.path = files.path().string();
  d.family = files.family().model_type;
  d.file_bytes = bytes_of_weights(files);
  d.shape = files.shape();
  d.skipped = files.skipped();
  describe_weights(files, d);
  describe_language(files, d);
  return d;
}

int64_t cache_bytes(const ModelShape& shape, int64_t tokens) {
  int64_t numbers = 0;
  for (const ModelShape::KvHeads& kv : shape.kv)
    numbers += 2 * kv.heads * kv.head_dim *
               nn::cache_slots(kv.window, std::min(tokens, kPrefillChunk), tokens);
  return numbers * static_cast<int64_t>(byte_size(DType::kF32));
}

nlohmann::ordered_json to_json(const Description& d) {
  nlohmann::ordered_json out = {{"path", d.path},
                                {"family", d.family},
                                {"parameters", d.parameters},
                                {"stored", d.stored},
                                {"file_bytes", d.file_bytes},
                                {"layers", d.shape.layers},
                                {"hidden", d.shape.hidden},
                                {"vocab", d.shape.vocab},
                                {"tied_head", d.tied},
                                {"max_positions", d.shape.max_positions}};
  for (const auto& [kv, layers] : caches(d.shape))
    out["kv_cache"]["layers"].push_back(
        {{"count", layers}, {"heads", kv.heads}, {"head_dim", kv.head_dim}, {"window", kv.window}});
  for (const int64_t n : lengths(d.shape))
    out["kv_cache"]["bytes"][std::to_string(n)] = cache_bytes(d.shape, n);
  if (!d.skipped.empty()) out["skipped"] = d.skipped;
  if (!d.tokenizer_problem.empty()) {
    out["tokenizer"] = {{"problem", d.tokenizer_problem}};
    return out;
  }
  out["tokenizer"] = {
      {"tokens", d.tokens}, {"adds_bos", d.adds_bos}, {"chat_template", d.has_template}};
  for (const Description::Token& t : d.special)
    out["tokenizer"]["special"].push_back({{"role", t.role}, {"token", t.text}, {"id", t.id}});
  return out;
}

std::string to_text(const Description& d) {
  std::string out;
  const auto line = [&](const char* name, const std::string& value) {
    out += fmt::format("{:<12} {}\n", *name == '\0' ? "" : fmt::format("{}:", name), value);
  };
  line("model", d.path);
  line("family", d.family);
  line("parameters", fmt::format("{} ({})", d.parameters, count_text(d.parameters)));
  std::string stored;
  for (const auto& [format, parameters] : d.stored)
    stored += fmt::format("{}{} {}", stored.empty() ? "" : ", ", format, count_text(parameters));
  line("stored", fmt::format("{}; {} on disk", stored, bytes_text(d.file_bytes)));
  line("layers", fmt::format("{}, hidden size {}", d.shape.layers, d.shape.hidden));
  line("vocabulary",
       fmt::format("{} rows, the head {}", d.shape.vocab, d.tied ? "tied to them" : "its own"));
  line("context", fmt::format("{} tokens", d.shape.max_positions));
  for (const auto& [kv, layers] : caches(d.shape))
    line("KV cache",
         fmt::format("{} layers of {} heads of {}{}", layers, kv.heads, kv.head_dim,
                     kv.window == 0 ? "" : fmt::format(", a window of {} tokens", kv.window)));
  for (const int64_t n : lengths(d.shape))
    line("", fmt::format("{} a sequence of {} tokens, f32",
                         bytes_text(static_cast<uint64_t>(cache_bytes(d.shape, n))), n));
  if (!d.skipped.empty()) line("left out", d.skipped);
  if (!d.tokenizer_problem.empty()) {
    line("tokenizer", "none: " + d.tokenizer_problem);
    return out;
  }
  line("tokenizer", fmt::format("{} tokens; {}; {}", d.tokens,
                                d.adds_bos ? "puts BOS first" : "puts no BOS first",
                                d.has_template ? "has a chat template" : "has no chat template"));
  for (const Description::Token& t : d.special)
    line(t.role.c_str(), fmt::format("{} ({})", t.text, t.id));
  return out;
}

}  // namespace hone::engine
