#include "engine/adapter.h"

#include <cmath>
#include <set>

#include "base/random.h"

namespace hone::engine {

nn::Lora lora_of(const ckpt::PeftAdapter& a) {
  nn::Lora lora{.rank = a.rank, .scale = a.scale(), .dropout = a.dropout, .targets = a.targets};
  return lora;
}

Buffers load_adapter(const Device& device, const ckpt::PeftAdapter& adapter,
                     const nn::Params& params) {
  std::map<std::string_view, const ckpt::PeftTensor*> unused;
  for (const ckpt::PeftTensor& t : adapter.tensors) unused[t.name] = &t;
  Buffers buffers;
  for (const nn::Weight& w : params.adapter) {
    const auto it = unused.find(w.name);
    if (it == unused.end()) throw ConfigError("{}: no tensor \"{}\"", adapter.source, w.name);
    if (it->second->dims != w.value.dims())
      throw ConfigError("{}: \"{}\" is {} where the model wants {}", adapter.source, w.name,
                        Type{DType::kF32, it->second->dims}.str(), w.value.type().str());
    buffers[w.name] =
        device.client().to_device<float>(w.value.dims(), std::span(it->second->values));
    unused.erase(it);
  }
  if (!unused.empty())
    throw ConfigError("{}: tensor \"{}\" belongs to no layer of this model", adapter.source,
                      unused.begin()->first);
  return buffers;
}

Buffers new_adapter(const Device& device, const nn::Params& params, uint64_t seed) {
  Buffers buffers;
  Random random(seed);
  for (const nn::Weight& w : params.adapter) {
    std::vector<float> values(static_cast<size_t>(w.value.type().size()), 0.0F);
    if (w.name.ends_with("lora_A.weight")) {
      const double bound = 1.0 / std::sqrt(static_cast<double>(w.value.dim(1)));
      for (float& v : values) v = static_cast<float>(random.uniform(-bound, bound));
    }
    buffers[w.name] =
        device.client().to_device<float>(w.value.dims(), std::span<const float>(values));
  }
  return buffers;
}

std::vector<ckpt::PeftTensor> adapter_tensors(const Buffers& buffers, const nn::Params& params) {
  std::vector<ckpt::PeftTensor> tensors;
  for (const nn::Weight& w : params.adapter)
    tensors.push_back({w.name, w.value.dims(), pjrt::to_host<float>(buffers.at(w.name))});
  return tensors;
}

std::vector<std::string> target_modules(const nn::Params& params) {
  std::set<std::string> names;
  for (const nn::Weight& w : params.adapter) {
    const std::string path = w.name.substr(0, w.name.find(".lora_"));
    names.insert(path.substr(path.rfind('.') + 1));
  }
  return {names.begin(), names.end()};
}

}  // namespace hone::engine
