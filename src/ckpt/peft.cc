#include "ckpt/peft.h"

#include "base/error.h"
#include "base/json.h"
#include "ckpt/atomic_file.h"
#include "ckpt/safetensors.h"
#include "ckpt/weights.h"

namespace hone::ckpt {
namespace {

constexpr std::string_view kPrefix = "base_model.model.";
constexpr const char* kConfigFile = "adapter_config.json";
constexpr const char* kTensorFile = "adapter_model.safetensors";

// Keys whose "off" value is the only one we compute: null, false, empty, or this text.
constexpr std::pair<const char*, const char*> kMustBeOff[] = {
    {"use_qalora", ""},          {"lora_bias", ""},         {"bias", "none"},
    {"fan_in_fan_out", ""},      {"modules_to_save", ""},   {"rank_pattern", ""},
    {"alpha_pattern", ""},       {"exclude_modules", ""},   {"layer_replication", ""},
    {"layers_to_transform", ""}, {"target_parameters", ""}, {"trainable_token_indices", ""},
};

bool is_off(const nlohmann::json& v, std::string_view off) {
  return v.is_null() || v == false || (v.is_structured() && v.empty()) ||
         (v.is_string() && v.get<std::string>() == off);
}

template <class T>
T field(const nlohmann::json& config, const std::string& file, const char* key) {
  try {
    return config.at(key).get<T>();
  } catch (const nlohmann::json::exception&) {
    throw ConfigError("{}: \"{}\" is missing or of another type", file, key);
  }
}

bool has(const nlohmann::json& config, const char* key) {
  return config.contains(key) && !config[key].is_null();
}

// These start the adapter with a part of the base's own weights, which they take out of the base.
void check_start(const nlohmann::json& config, const std::string& file) {
  if (!has(config, "init_lora_weights")) return;
  const nlohmann::json& start = config["init_lora_weights"];
  if (start.is_boolean() || start == "gaussian") return;
  throw ConfigError(
      "{}: \"init_lora_weights\": {} changes the base's weights, which is not built yet", file,
      start.dump());
}

}  // namespace

PeftAdapter read_peft(const std::filesystem::path& folder) {
  const std::string file = (folder / kConfigFile).string();
  const nlohmann::json config = read_json(folder / kConfigFile);
  if (field<std::string>(config, file, "peft_type") != "LORA")
    throw ConfigError("{}: peft_type is {}; hone has LORA", file, config["peft_type"].dump());
  for (const auto& [key, off] : kMustBeOff)
    if (config.contains(key) && !is_off(config[key], off))
      throw ConfigError("{}: \"{}\": {} is not built yet; only plain LoRA is", file, key,
                        config[key].dump());

  check_start(config, file);
  PeftAdapter a;
  a.source = folder.string();
  a.rank = field<int64_t>(config, file, "r");
  a.alpha = field<double>(config, file, "lora_alpha");
  if (has(config, "lora_dropout")) a.dropout = field<double>(config, file, "lora_dropout");
  if (has(config, "use_rslora")) a.rank_stabilised = field<bool>(config, file, "use_rslora");
  if (has(config, "use_dora")) a.dora = field<bool>(config, file, "use_dora");
  const nlohmann::json& targets = config.value("target_modules", nlohmann::json());
  if (targets.is_string())
    a.targets = {targets.get<std::string>()};
  else
    a.targets = field<std::vector<std::string>>(config, file, "target_modules");
  if (a.rank < 1) throw ConfigError("{}: \"r\" is {}; want at least 1", file, a.rank);
  if (auto base = config.find("base_model_name_or_path"); base != config.end() && base->is_string())
    a.base_model = base->get<std::string>();

  const std::unique_ptr<WeightSource> source = open_weights(folder / kTensorFile);
  for (const Weight& w : source->weights()) {
    if (!std::string_view(w.name).starts_with(kPrefix))
      throw ConfigError("{}: tensor \"{}\" does not begin with {}", source->path(), w.name,
                        kPrefix);
    PeftTensor t{w.name.substr(kPrefix.size()), w.dims, {}};
    t.values.resize(static_cast<size_t>(Type{DType::kF32, w.dims}.size()));
    source->read_f32(w.name, t.values);
    a.tensors.push_back(std::move(t));
  }
  return a;
}

void write_peft(const std::filesystem::path& folder, const PeftAdapter& a) {
  const nlohmann::ordered_json config = {
      {"peft_type", "LORA"},
      {"task_type", "CAUSAL_LM"},
      {"base_model_name_or_path", a.base_model},
      {"revision", nullptr},
      {"inference_mode", true},
      {"r", a.rank},
      {"lora_alpha", a.alpha},
      {"lora_dropout", a.dropout},
      {"target_modules", a.targets},
      {"exclude_modules", nullptr},
      {"modules_to_save", nullptr},
      {"bias", "none"},
      {"fan_in_fan_out", false},
      {"use_rslora", a.rank_stabilised},
      {"use_dora", a.dora},
      {"lora_bias", false},
      {"init_lora_weights", true},
      {"rank_pattern", nlohmann::json::object()},
      {"alpha_pattern", nlohmann::json::object()},
      {"layers_to_transform", nullptr},
      {"layers_pattern", nullptr},
  };
  std::vector<TensorView> views;
  for (const PeftTensor& t : a.tensors)
    views.push_back(
        {std::string(kPrefix) + t.name, {DType::kF32, t.dims}, std::as_bytes(std::span(t.values))});
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) throw FileError("cannot make {}: {}", folder.string(), failed.message());
  // An old config goes first, so that it is never found beside new tensors.
  std::filesystem::remove(folder / kConfigFile, failed);
  write_safetensors(folder / kTensorFile, views);
  write_atomically(folder / kConfigFile, config.dump(2) + "\n");
}

}  // namespace hone::ckpt
