#include "engine/expert_adapter.h"

#include "base/check.h"

namespace hone::engine {
namespace {

constexpr std::string_view kLora = ".lora_";

bool is_b(const nn::Weight& w) { return w.name.ends_with("lora_B.weight"); }

// values[i][j] becomes result[j][i].
std::vector<float> turned(const std::vector<float>& values, size_t rows, size_t columns) {
  std::vector<float> result(values.size());
  for (size_t i = 0; i < rows; ++i)
    for (size_t j = 0; j < columns; ++j) result[j * rows + i] = values[i * columns + j];
  return result;
}

}  // namespace

bool adapts_parameter(const nn::Weight& w) {
  return w.value.rank() == 3 && w.name.find(kLora) != std::string::npos;
}

std::string adapted_parameter(const nn::Weight& w) { return w.name.substr(0, w.name.find(kLora)); }

std::string peft_name(const nn::Weight& w, const nn::Params& params) {
  if (!adapts_parameter(w)) return w.name;
  const std::string own = adapted_parameter(w);
  const std::string module = own.substr(0, own.rfind('.'));
  std::string name = module;
  bool passed = false;  // weights are declared in PEFT's order
  for (const nn::Weight& other : params.trained) {
    if (!adapts_parameter(other) || is_b(other)) continue;
    const std::string path = adapted_parameter(other);
    if (path.substr(0, path.rfind('.')) != module) continue;
    if (passed) name += ".base_layer";
    passed |= path == own;
  }
  check(passed, "{} is not declared", w.name);
  return name + w.name.substr(w.name.find(kLora));
}

Dims peft_dims(const nn::Weight& w) {
  const Dims& d = w.value.dims();
  if (!adapts_parameter(w)) return d;
  return is_b(w) ? Dims{d[1], d[2] * d[0]} : Dims{d[0] * d[1], d[2]};
}

std::vector<float> to_peft(const nn::Weight& w, std::vector<float> values) {
  if (!adapts_parameter(w) || !is_b(w)) return values;
  const Dims& d = w.value.dims();
  return turned(values, static_cast<size_t>(d[0]), static_cast<size_t>(d[1] * d[2]));
}

std::vector<float> from_peft(const nn::Weight& w, std::vector<float> values) {
  if (!adapts_parameter(w) || !is_b(w)) return values;
  const Dims& d = w.value.dims();
  return turned(values, static_cast<size_t>(d[1] * d[2]), static_cast<size_t>(d[0]));
}

}  // namespace hone::engine
