#include "ops/body_vjp.h"

#include <algorithm>

#include "ir/clone.h"
#include "ir/grad.h"
#include "ops/ops.h"

namespace hone {

// The backward part is built in a body of its own, so that operands which depend on each other in
// the outer graph are independent here.
Values body_vjp(const Node& n, Graph& g, std::span<const Value> dy, size_t held) {
  Body back{std::make_unique<Graph>(), {}};
  Values operands;
  for (const Value& v : n.in) operands.push_back(back.graph->parameter("", v.type()));
  Values d(dy.size()), args = n.in;
  for (size_t i = 0; i < dy.size(); ++i) {
    if (!dy[i]) continue;
    d[i] = back.graph->parameter("", dy[i].type());
    args.push_back(dy[i]);
  }
  if (held > 0) {
    Values together(operands.begin(), operands.begin() + static_cast<long>(held));
    for (const Value& v : d)
      if (v) together.push_back(v);
    const Values released = barrier(together);
    auto next = released.begin();
    for (size_t i = 0; i < held; ++i) operands[i] = *next++;
    for (Value& v : d)
      if (v) v = *next++;
  }
  const Values ys = inline_body(*n.body, operands, *back.graph);
  const Values found = pullback(ys, d, operands);
  for (const Value& v : found)
    if (v) back.outs.push_back(v);

  const Values inlined = inline_body(back, args, g);
  Values result;
  size_t next = 0;
  for (const Value& v : found) result.push_back(v ? inlined[next++] : Value{});
  return result;
}

}  // namespace hone
