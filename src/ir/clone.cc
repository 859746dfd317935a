#include "ir/clone.h"

#include "base/check.h"

namespace hone {
namespace {

std::shared_ptr<Body> copy_body(const Body& body, Graph& parent) {
  auto copy = std::make_shared<Body>();
  copy->graph = std::make_unique<Graph>(&parent);
  Known known;
  for (const Value& p : body.graph->parameters())
    known[{p.id, 0}] = copy->graph->parameter((*body.graph)[p].label, p.type());
  copy->outs = clone(*body.graph, body.outs, *copy->graph, known);
  return copy;
}

}  // namespace

Values clone(const Graph& from, std::span<const Value> outs, Graph& into, Known& known) {
  std::vector<bool> needed(static_cast<size_t>(from.size()), false);
  auto need = [&](const Value& v) {
    if (!known.contains({v.id, v.result})) needed[static_cast<size_t>(v.id)] = true;
  };
  for (const Value& v : outs) need(v);
  for (int id = from.size() - 1; id >= 0; --id)
    if (needed[static_cast<size_t>(id)])
      for (const Value& v : from.node(id).in) need(v);

  for (int id = 0; id < from.size(); ++id) {
    if (!needed[static_cast<size_t>(id)]) continue;
    Node n = from.node(id);
    check(n.op != &kParameter, "clone: parameter \"{}\" has no value", n.label);
    for (Value& v : n.in) v = known.at({v.id, v.result});
    if (n.body) n.body = copy_body(*n.body, into);
    const int results = static_cast<int>(n.results.size());
    const Value copy = into.add(std::move(n));
    for (int r = 0; r < results; ++r) known.try_emplace({id, r}, Value{&into, copy.id, r});
  }

  Values copies;
  for (const Value& v : outs) copies.push_back(known.at({v.id, v.result}));
  return copies;
}

Values inline_body(const Body& body, std::span<const Value> args, Graph& into) {
  Known known;
  for (size_t i = 0; i < args.size(); ++i)
    known[{body.graph->parameters()[i].id, 0}] = into.capture(args[i]);
  return clone(*body.graph, body.outs, into, known);
}

}  // namespace hone
