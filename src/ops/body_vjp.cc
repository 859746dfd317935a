#include "ops/body_vjp.h"

#include <algorithm>

#include "ir/clone.h"
#include "ir/grad.h"
#include "ops/ops.h"

namespace hone {

// The backward part is built in a body of its own, so that operands which depend on each other in
// the outer graph are independent here.
Values body_vjp(const Node& n, Graph& g, Value dy, size_t held) {
  Body back{std::make_unique<Graph>(), {}};
  Values operands;
  for (const Value& v : n.in) operands.push_back(back.graph->parameter("", v.type()));
  Value d = back.graph->parameter("", dy.type());
  if (held > 0) {
    Values together(operands.begin(), operands.begin() + static_cast<long>(held));
    together.push_back(d);
    const Values released = barrier(together);
    std::copy(released.begin(), released.end() - 1, operands.begin());
    d = released.back();
  }
  const Values ys = inline_body(*n.body, operands, *back.graph);
  const Values found = pullback(ys, {{d}}, operands);
  for (const Value& v : found)
    if (v) back.outs.push_back(v);

  Values args = n.in;
  args.push_back(dy);
  const Values inlined = inline_body(back, args, g);
  Values result;
  size_t next = 0;
  for (const Value& v : found) result.push_back(v ? inlined[next++] : Value{});
  return result;
}

}  // namespace hone
