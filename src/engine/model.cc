#include "engine/model.h"

#include <algorithm>

#include "base/check.h"

namespace hone::engine {
namespace {

std::string module_of(const nn::Weight& w) { return w.name.substr(0, w.name.find(".lora_")); }

// A name that no layer answers to is a mistake, not a smaller adapter.
void check_targets(const nn::Tuning& tuning, const nn::Params& params, std::string_view place) {
  auto check_each = [&](const std::vector<std::string>& names, auto matches) {
    for (const std::string& name : names) {
      const bool matched = std::ranges::any_of(
          params.trained, [&](const nn::Weight& w) { return matches(name, module_of(w)); });
      if (!matched) throw ConfigError("{}: \"{}\" matches no layer of the model", place, name);
    }
  };
  if (tuning.lora)
    check_each(tuning.lora->targets, [](const std::string& name, const std::string& module) {
      return nn::Lora{.targets = {name}}.at(module).has_value();
    });
  check_each(tuning.whole, [](const std::string& name, const std::string& module) {
    return nn::Tuning{.whole = {name}}.trains(module.substr(0, module.rfind('.')));
  });
}

}  // namespace

Declarations::Declarations(const ModelFiles& files, const nn::Tuning& tuning)
    : graph(std::make_unique<Graph>()), params{.graph = *graph, .tuning = tuning} {
  files.family().build(nn::Scope(params), files.config());
}

Model Model::open(const std::string& model, const std::optional<std::string>& adapter) {
  Model m{Device::open(), ModelFiles(find_model(model)), {}, {}, {}};
  std::optional<ckpt::PeftAdapter> peft;
  if (adapter) {
    peft = ckpt::read_peft(*adapter);
    m.tuning = tuning_of(*peft);
  }
  const Declarations declared(m.files, m.tuning);
  if (peft) check_targets(m.tuning, declared.params, *adapter + ": target_modules");
  if (peft) m.trained = load_adapter(m.device, *peft, declared.params);
  m.weights = load_weights(m.device, m.files, declared.params);
  return m;
}

Model Model::open(const std::string& model, const nn::Tuning& tuning, uint64_t seed) {
  Model m{Device::open(), ModelFiles(find_model(model)), tuning, {}, {}};
  const Declarations declared(m.files, m.tuning);
  check_targets(tuning, declared.params, "adapter.targets");
  m.weights = load_weights(m.device, m.files, declared.params);
  m.trained = new_trained(m.device, m.files, declared.params, seed);
  return m;
}

void Model::renew(const nn::Tuning& t, uint64_t seed) {
  const Declarations declared(files, t);
  check_targets(t, declared.params, "adapter.targets");
  check(t.whole == tuning.whole, "weights trained whole are not among the frozen ones");
  tuning = t;
  trained = new_trained(device, files, declared.params, seed);
}

Decoder Model::build(nn::Params& params) const {
  return files.family().build(nn::Scope(params), files.config());
}

const pjrt::Buffer& Model::weight(std::string_view name) const {
  if (const auto it = trained.find(name); it != trained.end()) return it->second;
  const auto it = weights.find(name);
  check(it != weights.end(), "no weight {}", name);
  return it->second;
}

}  // namespace hone::engine
