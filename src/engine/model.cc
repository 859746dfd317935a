#include "engine/model.h"

#include <algorithm>

namespace hone::engine {
namespace {

// A target that no layer answers to is a mistake, not a smaller adapter.
void check_targets(const nn::Lora& lora, const nn::Params& params, std::string_view place) {
  for (const std::string& target : lora.targets) {
    const bool matched = std::ranges::any_of(params.adapter, [&](const nn::Weight& w) {
      const nn::Lora one{.targets = {target}};
      return one.applies_to(w.name.substr(0, w.name.find(".lora_")));
    });
    if (!matched) throw ConfigError("{}: \"{}\" matches no layer of the model", place, target);
  }
}

}  // namespace

Declarations::Declarations(const ModelFiles& files, const std::optional<nn::Lora>& lora)
    : graph(std::make_unique<Graph>()), params{.graph = *graph, .lora = lora} {
  files.family().build(nn::Scope(params), files.config());
}

Model Model::open(const std::string& model, const std::optional<std::string>& adapter) {
  Model m{Device::open(), ModelFiles(find_model(model)), {}, {}, {}};
  std::optional<ckpt::PeftAdapter> peft;
  if (adapter) {
    peft = ckpt::read_peft(*adapter);
    m.lora = lora_of(*peft);
  }
  const Declarations declared(m.files, m.lora);
  if (peft) check_targets(*m.lora, declared.params, *adapter + ": target_modules");
  if (peft) m.adapter = load_adapter(m.device, *peft, declared.params);
  m.weights = load_weights(m.device, m.files, declared.params);
  return m;
}

Model Model::open(const std::string& model, const nn::Lora& lora, uint64_t seed) {
  Model m{Device::open(), ModelFiles(find_model(model)), lora, {}, {}};
  const Declarations declared(m.files, m.lora);
  check_targets(lora, declared.params, "adapter.targets");
  m.adapter = new_adapter(m.device, declared.params, seed);
  m.weights = load_weights(m.device, m.files, declared.params);
  return m;
}

}  // namespace hone::engine
