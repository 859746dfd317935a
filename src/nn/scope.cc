#include "nn/scope.h"

#include <algorithm>

namespace hone::nn {
namespace {

Weight declare(Graph& g, std::string name, DType t, const std::vector<Axis>& axes) {
  Weight w{std::move(name), {}, {}};
  Type type{t, {}};
  for (const Axis& a : axes) {
    type.dims.push_back(a.size);
    w.axes.emplace_back(a.name);
  }
  w.value = g.parameter(w.name, type);
  return w;
}

}  // namespace

bool Lora::applies_to(std::string_view path) const {
  const std::string_view last = path.substr(path.rfind('.') + 1);
  return std::ranges::any_of(targets, [&](const std::string& t) {
    return t == "all-linear" ? last != "lm_head" : t == last;
  });
}

Scope Scope::operator/(std::string_view child) const {
  return Scope(*params_, path_.empty() ? std::string(child) : fmt::format("{}.{}", path_, child));
}

Value Scope::weight(std::vector<Axis> axes, std::string_view leaf) const {
  params_->base.push_back(
      declare(params_->graph, fmt::format("{}.{}", path_, leaf), params_->compute, axes));
  return params_->base.back().value;
}

Value Scope::adapter_weight(std::string_view leaf, std::vector<Axis> axes) const {
  params_->adapter.push_back(
      declare(params_->graph, fmt::format("{}.{}.weight", path_, leaf), DType::kF32, axes));
  return params_->adapter.back().value;
}

}  // namespace hone::nn
