#include "engine/adapter.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/check.h"
#include "base/random.h"

namespace hone::engine {

nn::Tuning tuning_of(const ckpt::PeftAdapter& a) {
  return {.lora = nn::Lora{.rank = a.rank,
                           .alpha = a.alpha,
                           .rank_stabilised = a.rank_stabilised,
                           .dora = a.dora,
                           .dropout = a.dropout,
                           .targets = a.targets}};
}

Buffers load_adapter(const Device& device, const ckpt::PeftAdapter& adapter,
                     const nn::Params& params) {
  std::map<std::string_view, const ckpt::PeftTensor*> unused;
  for (const ckpt::PeftTensor& t : adapter.tensors) unused[t.name] = &t;
  Buffers buffers;
  for (const nn::Weight& w : params.trained) {
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

namespace {

std::vector<float> read_weight(const ModelFiles& files, const std::string& name, const Dims& dims) {
  files.check_weight(name, dims);
  std::vector<float> values(static_cast<size_t>(Type{DType::kF32, dims}.size()));
  files.read(name, dims, values);
  return values;
}

std::vector<float> row_lengths(const std::vector<float>& matrix, int64_t rows) {
  const size_t width = matrix.size() / static_cast<size_t>(rows);
  std::vector<float> lengths;
  for (size_t r = 0; r < static_cast<size_t>(rows); ++r) {
    double squares = 0;
    for (size_t i = r * width; i < (r + 1) * width; ++i)
      squares += static_cast<double>(matrix[i]) * static_cast<double>(matrix[i]);
    lengths.push_back(static_cast<float>(std::sqrt(squares)));
  }
  return lengths;
}

}  // namespace

Buffers new_trained(const Device& device, const ModelFiles& files, const nn::Params& params,
                    uint64_t seed) {
  Buffers buffers;
  Random random(seed);
  auto find_frozen = [&](const std::string& name) -> const nn::Weight& {
    const auto it = std::ranges::find(params.frozen, name, &nn::Weight::name);
    check(it != params.frozen.end(), "{} has an adapter and no weight", name);
    return *it;
  };
  for (const nn::Weight& w : params.trained) {
    std::vector<float> values(static_cast<size_t>(w.value.type().size()), 0.0F);
    const std::string module = w.name.substr(0, w.name.find(".lora_"));
    if (w.name.ends_with("lora_A.weight")) {
      const double bound = 1.0 / std::sqrt(static_cast<double>(w.value.dim(1)));
      for (float& v : values) v = static_cast<float>(random.uniform(-bound, bound));
    } else if (w.name.ends_with("lora_magnitude_vector")) {
      const nn::Weight& base = find_frozen(module + ".weight");
      values = row_lengths(read_weight(files, base.name, base.value.dims()), w.value.dim(0));
    } else if (!w.name.ends_with("lora_B.weight")) {
      values = read_weight(files, w.name, w.value.dims());
    }
    buffers[w.name] =
        device.client().to_device<float>(w.value.dims(), std::span<const float>(values));
  }
  return buffers;
}

namespace {

// The last components of the paths of the layers that have an adapter.
std::vector<std::string> target_modules(const nn::Params& params) {
  std::set<std::string> names;
  for (const nn::Weight& w : params.trained) {
    const size_t end = w.name.find(".lora_");
    if (end == std::string::npos) continue;
    const std::string path = w.name.substr(0, end);
    names.insert(path.substr(path.rfind('.') + 1));
  }
  return {names.begin(), names.end()};
}

}  // namespace

ckpt::PeftAdapter peft_of(const nn::Lora& lora, const Buffers& trained, const nn::Params& params,
                          const std::string& base_model) {
  ckpt::PeftAdapter a{.rank = lora.rank,
                      .alpha = lora.alpha,
                      .dropout = lora.dropout,
                      .dora = lora.dora,
                      .rank_stabilised = lora.rank_stabilised,
                      .targets = target_modules(params),
                      .base_model = base_model,
                      .source = {},
                      .tensors = {}};
  for (const nn::Weight& w : params.trained)
    a.tensors.push_back({w.name, w.value.dims(), pjrt::to_host<float>(trained.at(w.name))});
  return a;
}

}  // namespace hone::engine
