// A Graph is an append-only list of nodes; a Value is a cheap handle to one result of one node.
//
// Nodes are in topological order by construction: an operand always has a smaller id than its
// user. The reverse walk (grad.h) and emission (emit.h) rely on that and on nothing else.
//
// A node may own a Body, a graph of its own (scan, fused). A body that mentions a value of an
// enclosing graph captures it: the value becomes a parameter of the body and an operand of the
// node, so closures just work and every dependency stays visible.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

#include "base/error.h"
#include "base/type.h"

namespace hone {

class Graph;
class Emitter;
struct Node;
struct Op;

struct Value {
  Graph* graph = nullptr;
  int id = -1;
  int result = 0;

  explicit operator bool() const { return graph != nullptr; }
  bool operator==(const Value&) const = default;
  const Type& type() const;
  const Dims& dims() const { return type().dims; }
  DType dtype() const { return type().dtype; }
  int64_t dim(int64_t axis) const;  // axis may count from the end: -1 is the last
  int64_t rank() const { return type().rank(); }
};

using Values = std::vector<Value>;
using Args = std::span<const std::string>;  // the operands' names in the emitted text

using Attr = std::variant<int64_t, double, std::string, Dims>;
using Attrs = std::map<std::string, Attr, std::less<>>;

// A graph that a node runs. Its parameters are, in order, the node's operands.
struct Body {
  std::unique_ptr<Graph> graph;
  Values outs;
};

struct Node {
  const Op* op = nullptr;
  Values in;
  Attrs attrs;
  std::vector<Type> results;
  std::string label;  // a parameter's name; "" elsewhere
  std::shared_ptr<Body> body;

  const Type& type() const { return results.front(); }
  const Type& operand(size_t i) const { return in[i].type(); }
  int64_t integer(std::string_view key) const { return std::get<int64_t>(attrs.find(key)->second); }
  double real(std::string_view key) const { return std::get<double>(attrs.find(key)->second); }
  const std::string& text(std::string_view key) const {
    return std::get<std::string>(attrs.find(key)->second);
  }
  const Dims& list(std::string_view key) const { return std::get<Dims>(attrs.find(key)->second); }
};

// The rules of the few operations that have several results or a body.
struct Structured {
  std::vector<Type> (*infer)(const Node&);
  // Writes statements and returns the name of each result; those not `used` may be left out ("").
  std::vector<std::string> (*emit)(const Node&, Args, const std::vector<bool>& used, Emitter&);
  // One cotangent an operand; `dy` has one entry a result, {} where none arrived.
  Values (*vjp)(const Node&, Value self, std::span<const Value> dy);
};

// Everything the program knows about one operation, in one place. A node points at its Op, so
// there is no enum, no switch and no registry to fall out of step.
struct Op {
  std::string_view name;
  Type (*infer)(const Node&);                               // throws ShapeError
  std::string (*emit)(const Node&, Args);                   // StableHLO text, right-hand side
  Values (*vjp)(const Node&, Value y, Value dy) = nullptr;  // one an operand; {} = no gradient
  const Structured* structured = nullptr;                   // set instead of the three above
};

class Graph {
 public:
  explicit Graph(Graph* parent = nullptr);
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  Value parameter(std::string label, Type type);
  Value add(Node n);
  // This graph's name for a value of an enclosing graph: a parameter, made at the first mention.
  Value capture(Value outer);

  const Node& operator[](Value v) const { return nodes_[static_cast<size_t>(v.id)]; }
  const Node& node(int id) const { return nodes_[static_cast<size_t>(id)]; }
  Node& mutable_node(int id) { return nodes_[static_cast<size_t>(id)]; }
  int size() const { return static_cast<int>(nodes_.size()); }
  const Values& parameters() const { return parameters_; }
  const Values& captured() const { return captured_; }  // outer values, in parameter order
  bool inside(const Graph* other) const;                // other is this graph or encloses it

 private:
  Graph* parent_;
  std::vector<Node> nodes_;
  Values parameters_;
  Values captured_;
  std::map<std::tuple<Graph*, int, int>, Value> capture_of_;
};

// Appends op(in) to the innermost graph among the operands. Throws ShapeError.
Value apply(const Op& op, Values in, Attrs attrs = {});
// The same for an op with several results or a body; the node's values are {graph, id, i}.
Value apply_structured(const Op& op, Graph& g, Values in, Attrs attrs, std::shared_ptr<Body> body);

// The graph among these values' graphs that lies inside all the others.
Graph* innermost(std::span<const Value> values);

// Which nodes of g the outputs need, by id.
std::vector<bool> reachable(const Graph& g, std::span<const Value> outs);

extern const Op kParameter;

}  // namespace hone
