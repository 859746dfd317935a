// scan: a loop with carried values, stacked inputs and stacked outputs; a stablehlo.while.
//
// Operands: the initial carries, the stacked inputs, the captured outer values. Results: the final
// carries, then the stacked outputs. The gradient is a scan in the other direction; what it needs
// of the forward iterations is added to the forward scan as further stacked outputs, which the
// emitter leaves out when nobody asks.
#include <fmt/ranges.h>

#include <set>

#include "ir/clone.h"
#include "ir/emit.h"
#include "ir/grad.h"
#include "ir/text.h"
#include "ops/ops.h"

namespace hone {
namespace {

ScanResult scan_toward(Graph& g, int64_t n, const Values& init, const Values& xs,
                       const std::function<ScanStep(const Values&, const Values&)>& body,
                       Remat remat, bool reverse);

struct Layout {
  size_t carries, xs, captured;
  explicit Layout(const Node& n)
      : carries(static_cast<size_t>(n.integer("carries"))),
        xs(static_cast<size_t>(n.integer("xs"))),
        captured(n.in.size() - carries - xs) {}
};

Type stacked(const Type& t, int64_t n) {
  Type s = t;
  s.dims.insert(s.dims.begin(), n);
  return s;
}

Type one_of(const Type& stack) {
  return {stack.dtype, Dims(stack.dims.begin() + 1, stack.dims.end())};
}

std::vector<Type> infer(const Node& n) {
  const Layout layout(n);
  std::vector<Type> results;
  for (size_t i = 0; i < n.body->outs.size(); ++i) {
    const Type& t = n.body->outs[i].type();
    if (i < layout.carries && t != n.operand(i))
      throw ShapeError("scan: carry {} is {} before and {} after an iteration", i,
                       n.operand(i).str(), t.str());
    results.push_back(i < layout.carries ? t : stacked(t, n.integer("n")));
  }
  return results;
}

// --- emission ----------------------------------------------------------------------------------

// `index` then one zero for each further axis: the start of iteration `index`'s block.
std::string start_of(const std::string& index, const std::string& zero, int64_t rank) {
  std::string s = index;
  for (int64_t i = 1; i < rank; ++i) s += ", " + zero;
  return s;
}
std::string index_types(int64_t rank) {
  std::string s;
  for (int64_t i = 0; i < rank; ++i) s += ", tensor<i32>";
  return s;
}

std::string read_block(Emitter& e, const std::string& stack, const Type& type,
                       const std::string& index, const std::string& zero) {
  const Type item = one_of(type), block = stacked(item, 1);
  const std::string cut =
      e.statement(fmt::format("stablehlo.dynamic_slice {}, {}, sizes = {} : ({}{}) -> {}", stack,
                              start_of(index, zero, type.rank()), list(block.dims), type.str(),
                              index_types(type.rank()), block.str()));
  return e.statement(
      fmt::format("stablehlo.reshape {} : ({}) -> {}", cut, block.str(), item.str()));
}

std::string write_block(Emitter& e, const std::string& stack, const Type& type,
                        const std::string& item, const std::string& index,
                        const std::string& zero) {
  const Type block = stacked(one_of(type), 1);
  const std::string shaped = e.statement(
      fmt::format("stablehlo.reshape {} : ({}) -> {}", item, one_of(type).str(), block.str()));
  return e.statement(fmt::format("stablehlo.dynamic_update_slice {}, {}, {} : ({}, {}{}) -> {}",
                                 stack, shaped, start_of(index, zero, type.rank()), type.str(),
                                 block.str(), index_types(type.rank()), type.str()));
}

// The while's operands in order: counter, carries, stacked outputs that are used, xs and captures.
struct Loop {
  std::vector<std::string> initial, names, types;
  void add(std::string from, std::string name, std::string type) {
    initial.push_back(std::move(from));
    names.push_back(std::move(name));
    types.push_back(std::move(type));
  }
};

std::vector<std::string> emit(const Node& n, Args args, const std::vector<bool>& used, Emitter& e) {
  const Layout layout(n);
  const std::string zero = e.statement("stablehlo.constant dense<0> : tensor<i32>");
  std::vector<size_t> ys;  // results beyond the carries that somebody uses
  for (size_t i = layout.carries; i < n.results.size(); ++i)
    if (i < used.size() && used[i]) ys.push_back(i);

  Loop loop;
  loop.add(zero, e.fresh(), "tensor<i32>");
  for (size_t i = 0; i < layout.carries; ++i) loop.add(args[i], e.fresh(), n.results[i].str());
  for (size_t i : ys)
    loop.add(e.statement(fmt::format("stablehlo.constant dense<{}> : {}",
                                     number(n.results[i].dtype, 0.0), n.results[i].str())),
             e.fresh(), n.results[i].str());
  const size_t inputs = loop.names.size();
  for (size_t i = layout.carries; i < n.in.size(); ++i)
    loop.add(args[i], e.fresh(), n.operand(i).str());

  const std::string condition = e.region([&] {
    const std::string limit =
        e.statement(fmt::format("stablehlo.constant dense<{}> : tensor<i32>", n.integer("n")));
    const std::string more = e.statement(fmt::format(
        "stablehlo.compare LT, {}, {}, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>",
        loop.names[0], limit));
    e.line("    stablehlo.return " + more + " : tensor<i1>");
  });

  const std::string step = e.region([&] {
    const std::string first = e.statement("stablehlo.constant dense<0> : tensor<i32>");
    const std::string one = e.statement("stablehlo.constant dense<1> : tensor<i32>");
    std::string index = loop.names[0];
    if (n.integer("reverse") != 0) {
      const std::string last = e.statement(
          fmt::format("stablehlo.constant dense<{}> : tensor<i32>", n.integer("n") - 1));
      index = e.statement(fmt::format("stablehlo.subtract {}, {} : tensor<i32>", last, index));
    }
    std::vector<std::string> parameters(loop.names.begin() + 1,
                                        loop.names.begin() + 1 + static_cast<long>(layout.carries));
    for (size_t i = 0; i < layout.xs; ++i)
      parameters.push_back(
          read_block(e, loop.names[inputs + i], n.operand(layout.carries + i), index, first));
    for (size_t i = 0; i < layout.captured; ++i)
      parameters.push_back(loop.names[inputs + layout.xs + i]);

    Values outs(n.body->outs.begin(), n.body->outs.begin() + static_cast<long>(layout.carries));
    for (size_t i : ys) outs.push_back(n.body->outs[i]);
    const std::vector<std::string> results = e.statements(*n.body->graph, parameters, outs);

    std::vector<std::string> next = loop.names;
    next[0] = e.statement(fmt::format("stablehlo.add {}, {} : tensor<i32>", loop.names[0], one));
    for (size_t i = 0; i < layout.carries; ++i) next[1 + i] = results[i];
    for (size_t k = 0; k < ys.size(); ++k)
      next[1 + layout.carries + k] =
          write_block(e, loop.names[1 + layout.carries + k], n.results[ys[k]],
                      results[layout.carries + k], index, first);
    e.line(fmt::format("    stablehlo.return {} : {}", fmt::join(next, ", "),
                       fmt::join(loop.types, ", ")));
  });

  std::vector<std::string> bindings;
  for (size_t i = 0; i < loop.names.size(); ++i)
    bindings.push_back(loop.names[i] + " = " + loop.initial[i]);
  const std::string name = e.fresh();
  e.line(fmt::format("    {}:{} = stablehlo.while({}) : {}\n    cond {{\n{}    }} do {{\n{}    }}",
                     name, loop.names.size(), fmt::join(bindings, ", "),
                     fmt::join(loop.types, ", "), condition, step));

  std::vector<std::string> out(n.results.size());
  for (size_t i = 0; i < layout.carries; ++i) out[i] = fmt::format("{}#{}", name, 1 + i);
  for (size_t k = 0; k < ys.size(); ++k)
    out[ys[k]] = fmt::format("{}#{}", name, 1 + layout.carries + k);
  return out;
}

// --- gradient ----------------------------------------------------------------------------------

// One iteration backwards in a graph of its own, with every forward value computed again.
struct Backward {
  Graph graph;
  Values params;    // stand for the forward body's parameters
  Values seeds;     // stand for the cotangents of its results; {} = none
  Values d_params;  // cotangents of the parameters; {} = none
  Known forward;    // the forward body's values in this graph
  int forward_end;  // nodes of this graph before this id are forward values

  Backward(const Node& n, std::span<const Value> dy) {
    const Layout layout(n);
    for (const Value& p : n.body->graph->parameters()) {
      params.push_back(graph.parameter("", p.type()));
      forward[{p.id, 0}] = params.back();
    }
    Values from, outs, d_outs;
    for (size_t i = 0; i < dy.size(); ++i) {
      const Value& out = n.body->outs[i];
      const bool flows = is_float(out.dtype()) && (i < layout.carries || dy[i]);
      seeds.push_back(flows ? graph.parameter("", out.type()) : Value{});
      if (!flows) continue;
      outs.push_back(out);
      d_outs.push_back(seeds.back());
    }
    const Values ys = clone(*n.body->graph, outs, graph, forward);
    forward_end = graph.size();
    d_params = pullback(ys, d_outs, params);
  }

  // The forward values that the backward part reads, as values of the forward body. Parameters
  // and what is made from nothing (constants, iota) are left out.
  Values read_from(Graph& forward_graph) const {
    Values ends;
    for (const Value& v : d_params)
      if (v) ends.push_back(v);
    const std::vector<bool> needed = reachable(graph, ends);
    std::set<std::pair<int, int>> read;
    for (const Value& v : ends) read.insert({v.id, v.result});
    for (int id = forward_end; id < graph.size(); ++id)
      if (needed[static_cast<size_t>(id)])
        for (const Value& v : graph.node(id).in) read.insert({v.id, v.result});
    Values values;
    for (const auto& [source, copy] : forward)
      if (!graph[copy].in.empty() && read.contains({copy.id, copy.result}))
        values.push_back({&forward_graph, source.first, source.second});
    return values;
  }
};

// Makes the forward scan stack `values` of its body too; returns the stacks.
Values stack_outputs(Value self, const Values& values) {
  Node& n = self.graph->mutable_node(self.id);
  Values stacks;
  for (const Value& v : values) {
    n.body->outs.push_back(v);
    n.results.push_back(stacked(v.type(), n.integer("n")));
    stacks.push_back({self.graph, self.id, static_cast<int>(n.results.size()) - 1});
  }
  return stacks;
}

Values vjp(const Node& n, Value self, std::span<const Value> dy) {
  Graph& g = *self.graph;
  const Layout layout(n);
  const Values& parameters = n.body->graph->parameters();
  const size_t first_captured = layout.carries + layout.xs;
  const Backward step(n, dy);

  Values saved(parameters.begin(), parameters.begin() + static_cast<long>(layout.carries));
  if (Remat(n.integer("remat")) == Remat::kNone)
    for (const Value& v : step.read_from(*n.body->graph)) saved.push_back(v);

  // Carried backwards: the cotangents of the carries, and the sums for the captured values.
  Values init, xs = stack_outputs(self, saved);
  std::vector<size_t> carried, stacked_x;  // which operand each backward carry and output is for
  for (size_t i = 0; i < parameters.size(); ++i) {
    const bool is_x = i >= layout.carries && i < first_captured;
    if (is_x && step.d_params[i]) stacked_x.push_back(i);
    if (is_x || !is_float(parameters[i].dtype())) continue;
    carried.push_back(i);
    init.push_back(i < layout.carries && dy[i] ? dy[i] : constant(g, parameters[i].type(), 0.0));
  }
  for (size_t i = 0; i < layout.xs; ++i) xs.push_back(n.in[layout.carries + i]);
  for (size_t i = layout.carries; i < dy.size(); ++i)
    if (step.seeds[i]) xs.push_back(dy[i]);

  auto body = [&](const Values& carry, const Values& x) -> ScanStep {
    Known known;  // values of step.graph
    size_t next = 0;
    for (const Value& v : saved) {
      const Value copy = step.forward.at({v.id, v.result});
      known[{copy.id, copy.result}] = x[next++];
    }
    for (size_t i = 0; i < layout.xs; ++i)
      known[{step.params[layout.carries + i].id, 0}] = x[next++];
    for (size_t i = layout.carries; i < dy.size(); ++i)
      if (step.seeds[i]) known[{step.seeds[i].id, 0}] = x[next++];
    Graph& back = *x.front().graph;
    for (size_t i = first_captured; i < parameters.size(); ++i)
      known[{step.params[i].id, 0}] = back.capture(n.in[i]);
    for (size_t k = 0; k < carried.size(); ++k)
      if (carried[k] < layout.carries && step.seeds[carried[k]])
        known[{step.seeds[carried[k]].id, 0}] = carry[k];

    ScanStep out;
    auto copied = [&](Value v) { return clone(step.graph, {{v}}, back, known).front(); };
    for (size_t k = 0; k < carried.size(); ++k) {
      const Value d = step.d_params[carried[k]];
      const bool is_carry = carried[k] < layout.carries;
      if (!d)
        out.carry.push_back(is_carry ? zeros_like(carry[k]) : carry[k]);
      else
        out.carry.push_back(is_carry ? copied(d) : carry[k] + copied(d));
    }
    for (size_t i : stacked_x) out.ys.push_back(copied(step.d_params[i]));
    return out;
  };
  const ScanResult back = scan_toward(g, n.integer("n"), init, xs, body, Remat(n.integer("remat")),
                                      n.integer("reverse") == 0);

  Values result(n.in.size());
  for (size_t k = 0; k < carried.size(); ++k) result[carried[k]] = back.carry[k];
  for (size_t k = 0; k < stacked_x.size(); ++k) result[stacked_x[k]] = back.ys[k];
  return result;
}

const Structured kRules{infer, emit, vjp};

}  // namespace

extern const Op kScan{"scan", nullptr, nullptr, nullptr, &kRules};

namespace {

ScanResult scan_toward(Graph& g, int64_t n, const Values& init, const Values& xs,
                       const std::function<ScanStep(const Values&, const Values&)>& body,
                       Remat remat, bool reverse) {
  auto loop = std::make_shared<Body>();
  loop->graph = std::make_unique<Graph>(&g);
  Values in, carry, x;
  for (const Value& v : init) {
    in.push_back(g.capture(v));
    carry.push_back(loop->graph->parameter("", v.type()));
  }
  for (const Value& v : xs) {
    if (v.rank() < 1 || v.dim(0) != n)
      throw ShapeError("scan: {} iterations over {}", n, v.type().str());
    in.push_back(g.capture(v));
    x.push_back(loop->graph->parameter("", one_of(v.type())));
  }
  const ScanStep step = body(carry, x);
  if (step.carry.size() != init.size())
    throw ShapeError("scan: {} carries before and {} after an iteration", init.size(),
                     step.carry.size());
  for (const Value& v : step.carry) loop->outs.push_back(loop->graph->capture(v));
  for (const Value& v : step.ys) loop->outs.push_back(loop->graph->capture(v));
  for (const Value& v : loop->graph->captured()) in.push_back(v);

  const Value self = apply_structured(kScan, g, in,
                                      {{"n", n},
                                       {"carries", static_cast<int64_t>(init.size())},
                                       {"xs", static_cast<int64_t>(xs.size())},
                                       {"remat", static_cast<int64_t>(remat)},
                                       {"reverse", static_cast<int64_t>(reverse)}},
                                      loop);
  ScanResult r;
  for (size_t i = 0; i < loop->outs.size(); ++i)
    (i < init.size() ? r.carry : r.ys).push_back({&g, self.id, static_cast<int>(i)});
  return r;
}

}  // namespace

ScanResult scan(Graph& g, int64_t n, Values init, Values xs,
                const std::function<ScanStep(const Values&, const Values&)>& body, Remat remat) {
  return scan_toward(g, n, init, xs, body, remat, false);
}

}  // namespace hone
