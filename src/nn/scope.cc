#include "nn/scope.h"

#include <algorithm>
#include <cmath>

#include "ops/ops.h"

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

bool names_module(std::string_view target, std::string_view path) {
  if (!path.ends_with(target)) return false;
  return path.size() == target.size() || path[path.size() - target.size() - 1] == '.';
}

std::optional<Lora::At> Lora::at(std::string_view path) const {
  const bool matches = std::ranges::any_of(targets, [&](const std::string& t) {
    return t == "all-linear" ? !names_module("lm_head", path) : names_module(t, path);
  });
  if (!matches) return std::nullopt;
  const double r = static_cast<double>(rank);
  return At{rank, alpha / (rank_stabilised ? std::sqrt(r) : r)};
}

bool Tuning::trains(std::string_view path) const {
  return std::ranges::any_of(
      whole, [&](const std::string& t) { return t == "all" || names_module(t, path); });
}

Scope Scope::operator/(std::string_view child) const {
  return Scope(*params_, path_.empty() ? std::string(child) : fmt::format("{}.{}", path_, child));
}

Value Scope::weight(std::vector<Axis> axes, std::string_view leaf) const {
  const std::string name = fmt::format("{}.{}", path_, leaf);
  const bool trained = params_->tuning.trains(path_);
  std::vector<Weight>& list = trained ? params_->trained : params_->frozen;
  list.push_back(declare(params_->graph, name, trained ? DType::kF32 : params_->compute, axes));
  return convert(list.back().value, params_->compute);
}

Value Scope::adapter_weight(std::string_view leaf, std::vector<Axis> axes) const {
  params_->trained.push_back(
      declare(params_->graph, fmt::format("{}.{}", path_, leaf), DType::kF32, axes));
  return params_->trained.back().value;
}

}  // namespace hone::nn
