#include "ir/graph.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace hone {

const Type& Value::type() const { return (*graph)[*this].results[static_cast<size_t>(result)]; }

int64_t Value::dim(int64_t axis) const {
  const int64_t i = axis < 0 ? axis + rank() : axis;
  if (i < 0 || i >= rank()) throw ShapeError("{} has no axis {}", type().str(), axis);
  return dims()[static_cast<size_t>(i)];
}

Graph::Graph(Graph* parent) : parent_(parent) {}

Value Graph::add(Node n) {
  nodes_.push_back(std::move(n));
  return {this, size() - 1};
}

Value Graph::parameter(std::string label, Type type) {
  const Value v = add({.op = &kParameter,
                       .in = {},
                       .attrs = {},
                       .results = {std::move(type)},
                       .label = std::move(label),
                       .body = {}});
  parameters_.push_back(v);
  return v;
}

bool Graph::inside(const Graph* other) const {
  for (const Graph* g = this; g != nullptr; g = g->parent_)
    if (g == other) return true;
  return false;
}

Value Graph::capture(Value outer) {
  if (outer.graph == this) return outer;
  check(parent_ != nullptr && inside(outer.graph), "a value of an unrelated graph was mentioned");
  // Through every graph in between, so that each node on the way lists what its body needs.
  const Value from = parent_->capture(outer);
  const auto [it, fresh] =
      capture_of_.try_emplace(std::tuple(from.graph, from.id, from.result), Value{});
  if (fresh) {
    it->second = parameter((*from.graph)[from].label, from.type());
    captured_.push_back(from);
  }
  return it->second;
}

Graph* innermost(std::span<const Value> values) {
  Graph* g = values.front().graph;
  for (const Value& v : values)
    if (v.graph->inside(g)) g = v.graph;
  return g;
}

Value apply(const Op& op, Values in, Attrs attrs) {
  Graph* g = innermost(in);
  for (Value& v : in) v = g->capture(v);
  Node n{.op = &op,
         .in = std::move(in),
         .attrs = std::move(attrs),
         .results = {},
         .label = {},
         .body = {}};
  n.results = {op.infer(n)};
  return g->add(std::move(n));
}

Value apply_structured(const Op& op, Graph& g, Values in, Attrs attrs, std::shared_ptr<Body> body) {
  for (Value& v : in) v = g.capture(v);
  Node n{.op = &op,
         .in = std::move(in),
         .attrs = std::move(attrs),
         .results = {},
         .label = {},
         .body = std::move(body)};
  n.results = op.structured->infer(n);
  return g.add(std::move(n));
}

std::vector<bool> reachable(const Graph& g, std::span<const Value> outs) {
  std::vector<bool> needed(static_cast<size_t>(g.size()), false);
  for (const Value& v : outs) needed[static_cast<size_t>(v.id)] = true;
  for (int id = g.size() - 1; id >= 0; --id)
    if (needed[static_cast<size_t>(id)])
      for (const Value& v : g.node(id).in) needed[static_cast<size_t>(v.id)] = true;
  return needed;
}

const Op kParameter{.name = "parameter", .infer = nullptr, .emit = nullptr};

}  // namespace hone
