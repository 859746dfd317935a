#include "nn/scope.h"

#include "ops/ops.h"

namespace hone::nn {
namespace {

Dims dims_of(const std::vector<Axis>& axes) {
  Dims dims;
  for (const Axis& a : axes) dims.push_back(a.size);
  return dims;
}

std::vector<std::string> names_of(const std::vector<Axis>& axes) {
  std::vector<std::string> names;
  for (const Axis& a : axes) names.emplace_back(a.name);
  return names;
}

}  // namespace

const std::string& label(Value parameter) { return (*parameter.graph)[parameter].label; }

Scope Scope::operator/(std::string_view child) const {
  return Scope(*params_, path_.empty() ? std::string(child) : fmt::format("{}.{}", path_, child));
}

Matrix Scope::declare(const std::string& name, const std::vector<Axis>& axes, Kind kind) const {
  const Dims dims = dims_of(axes);
  Params& p = *params_;
  if (kind != Kind::kConstant && p.tuning.trains(path_)) {
    p.trained.push_back({name, p.graph.parameter(name, {DType::kF32, dims}), names_of(axes)});
    return Matrix(kStoreF32, {p.trained.back().value}, dims, p.compute);
  }
  const Store& store = p.store(name, kind == Kind::kMatrix);
  FrozenWeight w{name, dims, names_of(axes), &store, {}, kind == Kind::kConstant};
  for (const Store::Part& part : store.parts(dims))
    w.parts.push_back(p.graph.parameter(fmt::format("{}{}", name, part.name), part.type));
  p.frozen.push_back(w);
  return Matrix(store, w.parts, dims, p.compute);
}

Value Scope::weight(std::vector<Axis> axes, std::string_view leaf) const {
  return declare(fmt::format("{}.{}", path_, leaf), axes, Kind::kWeight)(params_->graph);
}

Value Scope::constant(std::vector<Axis> axes, std::string_view leaf) const {
  return declare(fmt::format("{}.{}", path_, leaf), axes, Kind::kConstant)(params_->graph);
}

Matrix Scope::matrix(Axis rows, Axis columns) const {
  return declare(path_ + ".weight", {rows, columns},
                 is_head(path_) ? Kind::kWeight : Kind::kMatrix);
}

Matrix Scope::table(Axis rows, Axis columns) const {
  return declare(path_ + ".weight", {rows, columns}, Kind::kWeight);
}

Matrix Scope::stack(Axis count, Axis rows, Axis columns, std::string_view leaf) const {
  return declare(fmt::format("{}.{}", path_, leaf), {count, rows, columns}, Kind::kWeight);
}

Value Scope::adapter_weight(std::string_view leaf, std::vector<Axis> axes) const {
  const std::string name = fmt::format("{}.{}", path_, leaf);
  params_->trained.push_back(
      {name, params_->graph.parameter(name, {DType::kF32, dims_of(axes)}), names_of(axes)});
  return params_->trained.back().value;
}

}  // namespace hone::nn
