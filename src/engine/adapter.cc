#include "engine/adapter.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/check.h"
#include "base/random.h"
#include "engine/expert_adapter.h"
#include "engine/program.h"
#include "nn/module_names.h"
#include "ops/ops.h"

namespace hone::engine {
namespace {

// The module of an adapter's weight; nothing for a weight that is trained whole.
std::optional<std::string> adapted_module(const nn::Weight& w) {
  const size_t end = w.name.find(".lora_");
  if (end == std::string::npos) return std::nullopt;
  return w.name.substr(0, end);
}

std::string own_module(const std::string& weight) { return weight.substr(0, weight.rfind('.')); }

std::vector<std::string> names_of(const ckpt::PeftModules& m) {
  if (!m.expression) {
    std::vector<std::string> names;
    for (const std::string& name : m.names) names.push_back(nn::as_end(name));
    return names;
  }
  std::string lower = m.names.front();
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  if (lower == "all-linear") return {lower};
  return {nn::as_expression(m.names.front())};
}

// PEFT matches "(.*\.)?(KEY)$" from the start.
std::string name_of_pattern(const std::string& key) {
  return nn::is_expression(key) ? fmt::format("(?:.*\\.)?(?:{})", key) : key;
}

bool has_own_head(const nn::Params& params) {
  auto is_head = [](const auto& w) { return nn::is_head(own_module(w.name)); };
  return std::ranges::any_of(params.frozen, is_head) ||
         std::ranges::any_of(params.trained, is_head);
}

}  // namespace

nn::Tuning tuning_of(const ckpt::PeftAdapter& a) {
  nn::Lora lora{
      .rank = a.rank,
      .alpha = a.alpha,
      .rank_stabilised = a.rank_stabilised,
      .dora = a.dora,
      .dropout = a.dropout,
      .targets = names_of(a.targets),
      .exclude = a.exclude.names.empty() ? std::vector<std::string>{} : names_of(a.exclude),
      .parameters = a.parameters,
      .layers = a.layers,
      .layer_lists = a.layer_lists};
  for (const auto& [key, rank] : a.rank_pattern)
    lora.others.push_back({name_of_pattern(key), rank, std::nullopt});
  for (const auto& [key, alpha] : a.alpha_pattern)
    lora.others.push_back({name_of_pattern(key), std::nullopt, alpha});
  return {.lora = lora, .whole = a.modules_to_save};
}

void check_targets(const nn::Tuning& tuning, const nn::Params& params, std::string_view place) {
  std::set<std::string> adapted, parameters, whole;
  for (const nn::Weight& w : params.trained) {
    const auto module = adapted_module(w);
    std::set<std::string>& adapters = adapts_parameter(w) ? parameters : adapted;
    module ? adapters.insert(*module) : whole.insert(own_module(w.name));
  }
  auto check_each = [&](const std::vector<std::string>& names, const auto& modules, auto matches) {
    for (const std::string& name : names)
      if (std::ranges::none_of(modules, [&](const auto& m) { return matches(name, m); }))
        throw ConfigError("{}: \"{}\" matches no layer of the model", place, name);
  };
  if (tuning.lora) {
    std::set<std::string> targets = adapted;  // and what was taken out of them again
    for (const nn::FrozenWeight& w : params.frozen)
      for (const std::string& name : tuning.lora->exclude)
        if (nn::names_module(name, own_module(w.name))) targets.insert(own_module(w.name));
    check_each(tuning.lora->targets, targets, [](const auto& name, const auto& module) {
      return nn::Lora{.targets = {name}}.at(module).has_value();
    });
    check_each(tuning.lora->parameters, parameters, nn::names_module);
    if (!parameters.empty() && (tuning.lora->dora || tuning.lora->dropout > 0))
      throw ConfigError("{}: adapters on expert weights ({}) have neither DoRA nor dropout", place,
                        *parameters.begin());
    std::vector<std::string> others;
    for (const nn::Lora::Other& o : tuning.lora->others) others.push_back(o.match);
    adapted.merge(parameters);
    check_each(others, adapted, nn::names_module);
  }
  check_each(tuning.whole, whole, [](const auto& name, const auto& module) {
    return nn::Tuning{.whole = {name}}.trains(module);
  });
}

Buffers load_adapter(const Device& device, const ckpt::PeftAdapter& adapter,
                     const nn::Params& params) {
  std::map<std::string_view, const ckpt::PeftTensor*> unused;
  for (const ckpt::PeftTensor& t : adapter.tensors) unused[t.name] = &t;
  Buffers buffers;
  for (const nn::Weight& w : params.trained) {
    const std::string name = peft_name(w, params);
    const auto it = unused.find(name);
    if (it == unused.end()) throw ConfigError("{}: no tensor \"{}\"", adapter.source, name);
    if (const Dims dims = peft_dims(w); it->second->dims != dims)
      throw ConfigError("{}: \"{}\" is {} where the model wants {}", adapter.source, name,
                        Type{DType::kF32, it->second->dims}.str(), Type{DType::kF32, dims}.str());
    if (w.name.contains("embed_tokens") && !has_own_head(params) && !adapter.ensure_weight_tying)
      throw ConfigError(
          "{}: {} is saved apart from the head that it is tied to, which is not built yet; save it "
          "with ensure_weight_tying",
          adapter.source, w.name);
    const std::vector<float> values = from_peft(w, it->second->values);
    buffers[w.name] = device.client().to_device<float>(w.value.dims(), std::span(values));
    unused.erase(it);
  }
  if (!unused.empty())
    throw ConfigError("{}: tensor \"{}\" belongs to no layer of this model", adapter.source,
                      unused.begin()->first);
  return buffers;
}

namespace {

std::vector<float> read_weight(const ModelFiles& files, const std::string& name, const Dims& dims) {
  files.check_weight(name, dims);
  std::vector<float> values(static_cast<size_t>(Type{DType::kF32, dims}.size()));
  files.read(name, dims, values);
  return values;
}

// Of one base in two formats, quantised or not.
bool are_alike(const std::vector<float>& a, const std::vector<float>& b) {
  double difference = 0, size = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    difference += static_cast<double>(std::abs(a[i] - b[i]));
    size += static_cast<double>(std::abs(b[i]));
  }
  return a.size() == b.size() && difference <= 0.2 * size;
}

// DoRA's magnitudes: the lengths of the rows of the weights as the device holds them.
void add_magnitudes(const Device& device, const nn::Params& params, const Buffers& frozen,
                    Buffers& to) {
  Graph g;
  Values lengths;
  std::vector<std::string> names;
  for (const nn::Weight& w : params.trained) {
    if (!w.name.ends_with("lora_magnitude_vector")) continue;
    const auto base =
        std::ranges::find(params.frozen, *adapted_module(w) + ".weight", &nn::FrozenWeight::name);
    check(base != params.frozen.end(), "{} has no weight", w.name);
    Values parts;
    for (const Value& p : base->parts) parts.push_back(g.parameter(nn::label(p), p.type()));
    const Value values = nn::Matrix(*base->store, parts, base->dims, DType::kF32)(g);
    names.push_back(w.name);
    lengths.push_back(sqrt(sum(values * values, {1})));
  }
  if (names.empty()) return;
  auto results = Program(device, g, lengths).run([&](const std::string& name) -> pjrt::Arg {
    return frozen.at(name);
  });
  for (size_t i = 0; i < names.size(); ++i) to[names[i]] = std::move(results[i]);
}

}  // namespace

void drop_base_weights(ckpt::PeftAdapter& adapter, const ModelFiles& files) {
  constexpr std::string_view kBase = ".base_layer";
  std::erase_if(adapter.tensors, [&](const ckpt::PeftTensor& t) {
    const size_t at = t.name.find(kBase);
    if (at == std::string::npos || t.name.contains(".lora_")) return false;
    std::string name = t.name;
    name.erase(at, kBase.size());
    if (!are_alike(t.values, read_weight(files, name, t.dims)))
      throw ConfigError("{}: \"{}\" is not that of {}; the adapter is for another base",
                        adapter.source, t.name, files.path().string());
    return true;
  });
}

Buffers new_trained(const Device& device, const ModelFiles& files, const nn::Params& params,
                    const Buffers& frozen, uint64_t seed) {
  Buffers buffers;
  Random random(seed);
  for (const nn::Weight& w : params.trained) {
    if (w.name.ends_with("lora_magnitude_vector")) continue;
    std::vector<float> values(static_cast<size_t>(w.value.type().size()), 0.0F);
    if (w.name.ends_with("lora_A.weight")) {
      const double bound = 1.0 / std::sqrt(static_cast<double>(w.value.dim(-1)));
      for (float& v : values) v = static_cast<float>(random.uniform(-bound, bound));
    } else if (!w.name.ends_with("lora_B.weight")) {
      values = read_weight(files, w.name, w.value.dims());
    }
    buffers[w.name] =
        device.client().to_device<float>(w.value.dims(), std::span<const float>(values));
  }
  add_magnitudes(device, params, frozen, buffers);
  return buffers;
}

namespace {

// The modules that have weights of their own.
std::set<std::string> modules_of(const nn::Params& params) {
  std::set<std::string> modules;
  for (const nn::FrozenWeight& w : params.frozen) modules.insert(own_module(w.name));
  for (const nn::Weight& w : params.trained)
    if (!adapted_module(w)) modules.insert(own_module(w.name));
  return modules;
}

// The shortest names by which PEFT finds `wanted` and no other of `all`: last components, or paths.
std::vector<std::string> names_for(const std::set<std::string>& wanted,
                                   const std::set<std::string>& all) {
  std::set<std::string> ends;
  for (const std::string& path : wanted) ends.insert(path.substr(path.rfind('.') + 1));
  for (const std::string& path : all)
    if (!wanted.contains(path) &&
        std::ranges::any_of(ends, [&](const auto& e) { return path.ends_with(e); }))
      return {wanted.begin(), wanted.end()};
  return {ends.begin(), ends.end()};
}

// The same of expert weights: their own name and their module's.
std::vector<std::string> parameters_for(const std::set<std::string>& wanted,
                                        const nn::Params& params) {
  auto end_of = [](const std::string& path) {
    return path.substr(path.rfind('.', path.rfind('.') - 1) + 1);
  };
  std::set<std::string> ends;
  for (const std::string& path : wanted) ends.insert(end_of(path));
  for (const nn::FrozenWeight& w : params.frozen)
    if (!wanted.contains(w.name) && ends.contains(end_of(w.name)))
      return {wanted.begin(), wanted.end()};
  return {ends.begin(), ends.end()};
}

template <class T>
using Pattern = std::map<std::string, T>;

// By the names that the run was told, where PEFT finds the same by them; by paths otherwise.
template <class T>
Pattern<T> pattern_of(const std::map<std::string, T>& of_module, T usual, const Pattern<T>& told) {
  auto found = [&](const std::string& path) {
    for (const auto& [key, value] : told)
      if (nn::names_module(key, path)) return value;
    return usual;
  };
  const bool same =
      std::ranges::all_of(of_module, [&](const auto& m) { return found(m.first) == m.second; });
  const bool plain =
      std::ranges::none_of(told, [](const auto& t) { return nn::is_expression(t.first); });
  if (same && plain) return told;
  Pattern<T> paths;
  for (const auto& [path, value] : of_module)
    if (value != usual) paths[path] = value;
  return paths;
}

void add_patterns(const nn::Lora& lora, const std::set<std::string>& adapted,
                  ckpt::PeftAdapter& to) {
  std::map<std::string, int64_t> ranks, told_ranks;
  std::map<std::string, double> alphas, told_alphas;
  for (const std::string& path : adapted) {
    const auto as_parameter = lora.at_parameter(path);
    const auto at = as_parameter ? as_parameter : lora.at(path);
    ranks[path] = at->rank;
    alphas[path] = at->alpha;
  }
  for (const nn::Lora::Other& o : lora.others) {
    if (o.rank) told_ranks.emplace(o.match, *o.rank);
    if (o.alpha) told_alphas.emplace(o.match, *o.alpha);
  }
  to.rank_pattern = pattern_of(ranks, lora.rank, told_ranks);
  to.alpha_pattern = pattern_of(alphas, lora.alpha, told_alphas);
}

}  // namespace

ckpt::PeftAdapter peft_of(const nn::Lora& lora, const Buffers& trained, const nn::Params& params,
                          const std::string& base_model, const nlohmann::json& from) {
  ckpt::PeftAdapter a;
  a.rank = lora.rank;
  a.alpha = lora.alpha;
  a.dropout = lora.dropout;
  a.dora = lora.dora;
  a.rank_stabilised = lora.rank_stabilised;
  a.base_model = base_model;
  a.config = from;
  std::set<std::string> adapted, parameters, whole;
  for (const nn::Weight& w : params.trained) {
    const auto module = adapted_module(w);
    std::set<std::string>& adapters = adapts_parameter(w) ? parameters : adapted;
    module ? adapters.insert(*module) : whole.insert(own_module(w.name));
    a.tensors.push_back(
        {peft_name(w, params), peft_dims(w), to_peft(w, pjrt::to_host<float>(trained.at(w.name)))});
    if (w.name.contains("embed_tokens") && !has_own_head(params)) a.ensure_weight_tying = true;
  }
  const std::set<std::string> all = modules_of(params);
  a.targets.names = names_for(adapted, all);
  a.parameters = parameters_for(parameters, params);
  if (!whole.empty()) a.modules_to_save = names_for(whole, all);
  adapted.merge(parameters);
  add_patterns(lora, adapted, a);
  return a;
}

}  // namespace hone::engine
