#include "ckpt/peft_config.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/quote.h"

namespace hone::ckpt {
namespace {

// What PEFT writes for a new adapter; parse_peft_config() knows the keys, peft_config() fills in
// those that a PeftAdapter has.
const nlohmann::json& new_config() {
  static const nlohmann::json config = {
      {"alora_invocation_tokens", nullptr},
      {"alpha_pattern", nlohmann::json::object()},
      {"auto_mapping", nullptr},
      {"base_model_name_or_path", nullptr},
      {"bias", "none"},
      {"corda_config", nullptr},
      {"ensure_weight_tying", false},
      {"eva_config", nullptr},
      {"exclude_modules", nullptr},
      {"fan_in_fan_out", false},
      {"inference_mode", true},
      {"init_lora_weights", true},
      {"layer_replication", nullptr},
      {"layers_pattern", nullptr},
      {"layers_to_transform", nullptr},
      {"loftq_config", nlohmann::json::object()},
      {"lora_alpha", 8},
      {"lora_bias", false},
      {"lora_dropout", 0.0},
      {"megatron_config", nullptr},
      {"megatron_core", "megatron.core"},
      {"modules_to_save", nullptr},
      {"peft_type", "LORA"},
      {"peft_version", "0.21.2"},
      {"qalora_group_size", 16},
      {"r", 8},
      {"rank_pattern", nlohmann::json::object()},
      {"revision", nullptr},
      {"target_modules", nullptr},
      {"target_parameters", nullptr},
      {"task_type", "CAUSAL_LM"},
      {"trainable_token_indices", nullptr},
      {"use_dora", false},
      {"use_qalora", false},
      {"use_rslora", false},
  };
  return config;
}

// Keys whose "off" value is the only one we compute: null, false, empty, or this text.
constexpr std::pair<const char*, const char*> kMustBeOff[] = {
    {"use_qalora", ""},
    {"lora_bias", ""},
    {"bias", "none"},
    {"fan_in_fan_out", ""},
    {"layer_replication", ""},
    {"trainable_token_indices", ""},
    {"alora_invocation_tokens", ""},
    // of later versions
    {"arrow_config", ""},
    {"kasa_config", ""},
    {"lora_ga_config", ""},
    {"monteclora_config", ""},
    {"use_bdlora", ""},
    {"velora_config", ""},
};

bool is_off(const nlohmann::json& v, std::string_view off) {
  return v.is_null() || v == false || (v.is_structured() && v.empty()) ||
         (v.is_string() && v.get<std::string>() == off);
}

class Reader {
 public:
  Reader(const nlohmann::json& config, const std::string& file) : config_(config), file_(file) {
    if (!config.is_object()) throw ConfigError("{}: not a JSON object", file);
  }

  template <class T>
  T need(const char* key) const {
    try {
      return config_.at(key).get<T>();
    } catch (const nlohmann::json::exception&) {
      throw ConfigError("{}: \"{}\" is missing or of another type", file_, key);
    }
  }
  template <class T>
  void want(const char* key, T& out) const {
    if (config_.contains(key) && !config_[key].is_null()) out = need<T>(key);
  }
  // One item, or a list.
  template <class T>
  void want_list(const char* key, std::vector<T>& out) const {
    if (!config_.contains(key) || config_[key].is_null()) return;
    if (config_[key].is_array())
      out = need<std::vector<T>>(key);
    else
      out = {need<T>(key)};
  }
  void want_modules(const char* key, PeftModules& out) const {
    want_list(key, out.names);
    out.expression = config_.contains(key) && config_[key].is_string();
  }
  void refuse_unless_off(const char* key, std::string_view off) const {
    if (config_.contains(key) && !is_off(config_[key], off))
      throw ConfigError("{}: \"{}\": {} is not built yet", file_, key, config_[key].dump());
  }

 private:
  const nlohmann::json& config_;
  const std::string& file_;
};

// Others start the adapter with a part of the base's own weights, which they take out of the base.
void check_start(const nlohmann::json& config, const std::string& file) {
  const nlohmann::json start = config.value("init_lora_weights", nlohmann::json(true));
  if (start.is_boolean() || start.is_null()) return;
  for (const char* harmless : {"gaussian", "eva", "orthogonal"})
    if (start == harmless) return;
  throw ConfigError(
      "{}: \"init_lora_weights\": {} changes the base's weights, which is not built yet", file,
      start.dump());
}

void check_numbers(const PeftAdapter& a, const std::string& file) {
  auto check_rank = [&](std::string_view key, int64_t rank) {
    if (rank < 1 || rank > 65536)
      throw ConfigError("{}: {} is {}; want 1 to 65536", file, quote(key), rank);
  };
  auto check_alpha = [&](std::string_view key, double alpha) {
    if (!std::isfinite(alpha)) throw ConfigError("{}: {} is no finite number", file, quote(key));
  };
  check_rank("r", a.rank);
  check_alpha("lora_alpha", a.alpha);
  for (const auto& [key, rank] : a.rank_pattern) check_rank(key, rank);
  for (const auto& [key, alpha] : a.alpha_pattern) check_alpha(key, alpha);
  if (!(a.dropout >= 0 && a.dropout < 1))
    throw ConfigError("{}: \"lora_dropout\" is {}; want 0 to below 1", file, a.dropout);
}

nlohmann::json to_json(const PeftModules& m) {
  if (m.names.empty()) return nullptr;
  return m.expression ? nlohmann::json(m.names.front()) : nlohmann::json(m.names);
}

template <class T>
nlohmann::json list_or_null(const std::vector<T>& list) {
  return list.empty() ? nlohmann::json() : nlohmann::json(list);
}

}  // namespace

PeftAdapter parse_peft_config(const nlohmann::json& config, const std::string& file) {
  const Reader r(config, file);
  if (r.need<std::string>("peft_type") != "LORA")
    throw ConfigError("{}: peft_type is {}; hone has LORA", file, config["peft_type"].dump());
  for (const auto& [key, off] : kMustBeOff) r.refuse_unless_off(key, off);
  check_start(config, file);
  PeftAdapter a;
  a.rank = r.need<int64_t>("r");
  a.alpha = r.need<double>("lora_alpha");
  r.want("lora_dropout", a.dropout);
  r.want("use_rslora", a.rank_stabilised);
  r.want("use_dora", a.dora);
  r.want_modules("target_modules", a.targets);
  r.want("target_parameters", a.parameters);
  if (a.targets.names.empty() && a.parameters.empty())
    throw ConfigError("{}: \"target_modules\" is missing or of another type", file);
  r.want_modules("exclude_modules", a.exclude);
  r.want("rank_pattern", a.rank_pattern);
  r.want("alpha_pattern", a.alpha_pattern);
  r.want_list("modules_to_save", a.modules_to_save);
  r.want("ensure_weight_tying", a.ensure_weight_tying);
  r.want_list("layers_to_transform", a.layers);
  r.want_list("layers_pattern", a.layer_lists);
  r.want("base_model_name_or_path", a.base_model);
  check_numbers(a, file);
  a.config = config;
  for (const auto& [key, value] : config.items()) {
    const bool known =
        new_config().contains(key) ||
        std::ranges::any_of(kMustBeOff, [&](const auto& row) { return key == row.first; });
    if (!known) a.unknown_keys.push_back(key);
  }
  return a;
}

nlohmann::json peft_config(const PeftAdapter& a) {
  nlohmann::json config = new_config();
  if (a.config.is_object()) config.update(a.config);
  config["r"] = a.rank;
  config["lora_alpha"] = a.alpha;
  config["lora_dropout"] = a.dropout;
  config["use_dora"] = a.dora;
  config["use_rslora"] = a.rank_stabilised;
  config["target_modules"] = to_json(a.targets);
  config["target_parameters"] = list_or_null(a.parameters);
  // With none at all PEFT would take its own choice for the architecture.
  if (a.targets.names.empty()) config["target_modules"] = nlohmann::json::array();
  config["exclude_modules"] = to_json(a.exclude);
  config["rank_pattern"] = a.rank_pattern;
  config["alpha_pattern"] = a.alpha_pattern;
  config["modules_to_save"] = list_or_null(a.modules_to_save);
  config["ensure_weight_tying"] = a.ensure_weight_tying;
  config["layers_to_transform"] = list_or_null(a.layers);
  config["layers_pattern"] = list_or_null(a.layer_lists);
  config["base_model_name_or_path"] = a.base_model;
  config["inference_mode"] = true;
  return config;
}

}  // namespace hone::ckpt
