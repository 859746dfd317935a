#include "engine/model.h"

#include "base/check.h"
#include "base/quote.h"

namespace hone::engine {
namespace {

void warn_of_cache(Model& m) {
  if (const std::string problem = m.device.cache().problem(); !problem.empty())
    m.warnings.push_back(
        fmt::format("compiled programs are not kept, so each start compiles again: {}", problem));
}

void warn_of_towers(Model& m) {
  if (const std::string skipped = m.files.skipped(); !skipped.empty())
    m.warnings.push_back(fmt::format("only text is read; left out are {}", skipped));
}

}  // namespace

Declarations::Declarations(const ModelFiles& files, const nn::Tuning& tuning,
                           const std::string& store)
    : graph(std::make_unique<Graph>()), params{.graph = *graph, .tuning = tuning} {
  params.store = store_rule(store, files);
  files.build(nn::Scope(params));
}

Model Model::open(const std::string& model, const std::optional<std::string>& adapter,
                  const std::string& store) {
  Model m{Device::open(), ModelFiles(find_model(model)), {}, {}, {}, store};
  std::optional<ckpt::PeftAdapter> peft;
  if (adapter) {
    peft = ckpt::read_peft(*adapter);
    drop_base_weights(*peft, m.files);
    m.tuning = tuning_of(*peft);
    m.adapter_config = peft->config;
    for (const std::string& key : peft->unknown_keys)
      m.warnings.push_back(fmt::format(
          "{}/adapter_config.json: {} is no key that hone knows; it changes nothing here", *adapter,
          quote(key)));
  }
  warn_of_cache(m);
  const Declarations declared(m.files, m.tuning, store);
  warn_of_towers(m);
  if (peft) check_targets(m.tuning, declared.params, *adapter + "/adapter_config.json");
  if (peft) m.trained = load_adapter(m.device, *peft, declared.params);
  m.weights = load_weights(m.device, m.files, declared.params);
  return m;
}

Model Model::open(const std::string& model, const nn::Tuning& tuning, uint64_t seed,
                  const std::string& store) {
  Model m{Device::open(), ModelFiles(find_model(model)), tuning, {}, {}, store};
  warn_of_cache(m);
  warn_of_towers(m);
  const Declarations declared(m.files, m.tuning, store);
  check_targets(tuning, declared.params, "adapter");
  m.weights = load_weights(m.device, m.files, declared.params);
  m.trained = new_trained(m.device, m.files, declared.params, m.weights, seed);
  return m;
}

void Model::renew(const nn::Tuning& t, uint64_t seed) {
  const Declarations declared(files, t, store);
  check_targets(t, declared.params, "adapter");
  check(t.whole == tuning.whole, "weights trained whole are not among the frozen ones");
  tuning = t;
  trained = new_trained(device, files, declared.params, weights, seed);
}

Decoder Model::build(nn::Params& params) const {
  params.store = store_rule(store, files);
  return files.build(nn::Scope(params));
}

const pjrt::Buffer& Model::weight(std::string_view name) const {
  if (const auto it = trained.find(name); it != trained.end()) return it->second;
  const auto it = weights.find(name);
  check(it != weights.end(), "no weight {}", name);
  return it->second;
}

}  // namespace hone::engine
