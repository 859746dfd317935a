#include "engine/save_model.h"

#include <algorithm>
#include <cctype>

#include "base/json.h"
#include "ckpt/atomic_file.h"
#include "ckpt/atomic_folder.h"
#include "ckpt/safetensors.h"
#include "text/gguf_tokenizer.h"
#include "text/tokenizer.h"

namespace hone::engine {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr const char* kCopied[] = {
    "generation_config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "chat_template.jinja",
    "tokenizer.model",
    "vocab.json",
    "merges.txt",
    "added_tokens.json",
};

void write_json(const fs::path& file, const Json& json) {
  ckpt::write_atomically(file, json.dump(2) + "\n");
}

// --- weights ---------------------------------------------------------------------------------

using Written = std::map<std::string, const pjrt::Buffer*, std::less<>>;
using Shard = std::vector<const std::string*>;

// Weights of towers as they are in the file, f32.
Buffers towers_of(const Model& model) {
  Buffers towers;
  for (const ckpt::Weight* w : model.files.towers()) {
    std::vector<float> values(static_cast<size_t>(Type{DType::kF32, w->dims}.size()));
    model.files.read_tower(*w, values);
    towers.emplace(w->name,
                   model.device.client().to_device<float>(w->dims, std::span<const float>(values)));
  }
  return towers;
}

// The trained weights, the constants, and `towers`. Throws ConfigError at a weight that is neither.
Written all_of(const Model& model, const Buffers& towers) {
  Written all;
  for (const nn::FrozenWeight& w :
       Declarations(model.files, model.tuning, model.store).params.frozen) {
    if (!w.constant)
      throw ConfigError("{} is not trained, so the model cannot be saved as a whole", w.name);
    all[w.name] = &model.weights.at(w.name);
  }
  for (const Buffers* buffers : {&model.trained, &towers})
    for (const auto& [name, buffer] : *buffers) all[name] = &buffer;
  return all;
}

std::vector<Shard> shards_of(const Written& weights, size_t most) {
  std::vector<Shard> shards(1);
  size_t bytes = 0;
  for (const auto& [name, buffer] : weights) {
    const size_t size = buffer->type().bytes();
    if (!shards.back().empty() && bytes + size > most) {
      shards.emplace_back();
      bytes = 0;
    }
    shards.back().push_back(&name);
    bytes += size;
  }
  return shards;
}

void write_shard(const fs::path& file, const Shard& shard, const Written& weights) {
  std::vector<std::vector<std::byte>> values;
  std::vector<ckpt::TensorView> views;
  for (const std::string* name : shard) {
    const pjrt::Buffer& buffer = *weights.find(*name)->second;
    buffer.to_host(values.emplace_back(buffer.type().bytes()));
    views.push_back({*name, buffer.type(), values.back()});
  }
  ckpt::write_safetensors(file, views);
}

void write_weights(const fs::path& folder, const Written& weights, size_t most) {
  const std::vector<Shard> shards = shards_of(weights, most);
  if (shards.size() == 1) return write_shard(folder / "model.safetensors", shards[0], weights);
  Json map = Json::object();
  size_t bytes = 0;
  for (size_t i = 0; i < shards.size(); ++i) {
    const std::string file = fmt::format("model-{:05}-of-{:05}.safetensors", i + 1, shards.size());
    write_shard(folder / file, shards[i], weights);
    for (const std::string* name : shards[i]) {
      map[*name] = file;
      bytes += weights.find(*name)->second->type().bytes();
    }
  }
  write_json(folder / "model.safetensors.index.json",
             {{"metadata", {{"total_size", bytes}}}, {"weight_map", map}});
}

// --- what a GGUF file says in other words ------------------------------------------------------

// "qwen3" -> "Qwen3ForCausalLM", "gemma3_text" -> "Gemma3ForCausalLM".
std::string architecture_of(std::string_view model_type) {
  if (model_type.ends_with("_text")) model_type.remove_suffix(5);
  std::string name(model_type);
  bool begins = true;  // a word
  std::erase_if(name, [&](char& c) {
    if (std::exchange(begins, c == '_'))
      c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    return c == '_';
  });
  return name + "ForCausalLM";
}

Json config_of(const ModelFiles& files) {
  Json config = files.config();
  if (config.contains("rope_divisors"))
    throw ConfigError(
        "{}: its table of rotary divisors (rope_freqs) has no place in config.json; start from a "
        "Hugging Face folder to train every weight",
        files.path().string());
  config.erase("rope_dimensions");
  if (!config.contains("architectures"))
    config["architectures"] = {architecture_of(files.family().model_type)};
  config.erase("torch_dtype");
  config["dtype"] = "float32";
  return config;
}

Json ids_of(const text::SpecialIds& s) {
  Json ids = Json::object();
  if (s.bos) ids["bos_token_id"] = *s.bos;
  if (s.eot && s.eot != s.eos)
    ids["eos_token_id"] = {s.eos.value_or(*s.eot), *s.eot};
  else if (s.eos)
    ids["eos_token_id"] = *s.eos;
  if (s.pad) ids["pad_token_id"] = *s.pad;
  return ids;
}

void write_language(const fs::path& folder, const ckpt::Gguf& gguf, const ModelShape& shape) {
  const text::GgufTokenizer rebuilt = text::gguf_tokenizer(gguf);
  const text::Tokenizer tokenizer = text::Tokenizer::from_gguf(gguf);
  ckpt::write_atomically(folder / "tokenizer.json", rebuilt.json);
  Json config = {{"tokenizer_class", "PreTrainedTokenizerFast"},
                 {"model_max_length", shape.max_positions},
                 {"clean_up_tokenization_spaces", false}};
  const text::SpecialIds& s = rebuilt.special;
  for (const auto& [key, id] : {std::pair("bos_token", s.bos), std::pair("eos_token", s.eos),
                                std::pair("pad_token", s.pad), std::pair("unk_token", s.unk)})
    if (id) config[key] = tokenizer.token(*id);
  write_json(folder / "tokenizer_config.json", config);
  write_json(folder / "generation_config.json", ids_of(s));
  if (const auto chat = gguf.text("tokenizer.chat_template"))
    ckpt::write_atomically(folder / "chat_template.jinja", *chat);
}

void copy_language(const fs::path& folder, const fs::path& from) {
  for (const char* name : kCopied) {
    std::error_code failed;
    if (!fs::exists(from / name, failed)) continue;
    fs::copy_file(from / name, folder / name, failed);
    if (failed)
      throw FileError("cannot copy {} to {}: {}", (from / name).string(), folder.string(),
                      failed.message());
  }
}

}  // namespace

void save_model(const Model& model, const fs::path& folder, size_t shard_bytes) {
  const Buffers towers = towers_of(model);
  const Written weights = all_of(model, towers);
  Json config = config_of(model.files);
  std::error_code failed;
  fs::create_directories(folder.parent_path(), failed);
  ckpt::AtomicFolder whole(folder);
  if (const ckpt::Gguf* gguf = model.files.gguf()) {
    config.update(ids_of(text::gguf_tokenizer(*gguf).special));
    write_language(whole.staging(), *gguf, model.files.shape());
  } else {
    copy_language(whole.staging(), model.files.path());
  }
  write_json(whole.staging() / "config.json", config);
  write_weights(whole.staging(), weights, shard_bytes);
  whole.commit();
}

}  // namespace hone::engine
