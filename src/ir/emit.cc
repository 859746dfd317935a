#include "ir/emit.h"

#include <fmt/ranges.h>

#include <cctype>

namespace hone {
namespace {

// Checkpoint names are legal MLIR names but for a few characters.
std::string sanitised(std::string label) {
  for (char& c : label)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '.' && c != '_') c = '_';
  return label;
}

std::string parameter_name(const Node& n, size_t i) {
  return n.label.empty() ? fmt::format("%arg{}", i)
                         : fmt::format("%{}.arg{}", sanitised(n.label), i);
}

std::vector<std::vector<bool>> results_used(const Graph& g, const std::vector<bool>& needed,
                                            std::span<const Value> outs) {
  std::vector<std::vector<bool>> used(static_cast<size_t>(g.size()));
  auto mark = [&](const Value& v) {
    auto& u = used[static_cast<size_t>(v.id)];
    u.resize(g[v].results.size());
    u[static_cast<size_t>(v.result)] = true;
  };
  for (const Value& v : outs) mark(v);
  for (int id = 0; id < g.size(); ++id)
    if (needed[static_cast<size_t>(id)])
      for (const Value& v : g.node(id).in) mark(v);
  return used;
}

}  // namespace

std::string Emitter::statement(const std::string& right_hand_side) {
  const std::string name = fresh();
  line(fmt::format("    {} = {}", name, right_hand_side));
  return name;
}

std::vector<std::string> Emitter::statements(const Graph& g, std::span<const std::string> names,
                                             std::span<const Value> outs) {
  const std::vector<bool> needed = reachable(g, outs);
  const auto used = results_used(g, needed, outs);
  // name[id][result]
  std::vector<std::vector<std::string>> name(static_cast<size_t>(g.size()));
  for (size_t i = 0; i < g.parameters().size(); ++i)
    name[static_cast<size_t>(g.parameters()[i].id)] = {names[i]};
  auto name_of = [&](const Value& v) -> const std::string& {
    return name[static_cast<size_t>(v.id)][static_cast<size_t>(v.result)];
  };

  for (int id = 0; id < g.size(); ++id) {
    const Node& n = g.node(id);
    if (!needed[static_cast<size_t>(id)] || n.op == &kParameter) continue;
    std::vector<std::string> args;
    for (const Value& v : n.in) args.push_back(name_of(v));
    auto& own = name[static_cast<size_t>(id)];
    if (n.op->structured != nullptr)
      own = n.op->structured->emit(n, args, used[static_cast<size_t>(id)], *this);
    else
      own = {statement(n.op->emit(n, args))};
  }

  std::vector<std::string> out;
  for (const Value& v : outs) out.push_back(name_of(v));
  return out;
}

std::string emit(const Graph& g, std::span<const Value> outs, const EmitOptions& options) {
  std::vector<std::string> names, signature, types;
  for (size_t i = 0; i < g.parameters().size(); ++i) {
    const Value p = g.parameters()[i];
    names.push_back(parameter_name(g[p], i));
    std::string alias;
    for (const auto& [parameter, output] : options.donated)
      if (parameter == static_cast<int>(i))
        alias = fmt::format(" {{tf.aliasing_output = {} : i32}}", output);
    signature.push_back(fmt::format("{}: {}{}", names.back(), p.type().str(), alias));
  }
  for (const Value& v : outs) types.push_back(v.type().str());

  Emitter e(options);
  const std::vector<std::string> results = e.statements(g, names, outs);
  return fmt::format(
      "module @hone {{\n  func.func public @main({}) -> ({}) {{\n{}    return {} : {}\n  }}\n}}\n",
      fmt::join(signature, ", "), fmt::join(types, ", "), e.text(), fmt::join(results, ", "),
      fmt::join(types, ", "));
}

}  // namespace hone
