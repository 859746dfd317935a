// Cases of operations that hold a body: checkpoint and scan.
#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/op_cases.h"
#include "ops/ops.h"

namespace hone {
void checkpoint_cases(std::vector<OpCase>& all) {
  all.push_back(
      {"checkpoint", "captures a weight", {f64({2, 3}), f64({3, 3})}, [](Graph&, const Values& in) {
         return checkpoint({in[0]},
                           [&](const Values& v) { return tanh(einsum("ab,bc->ac", v[0], in[1])); });
       }});
  all.push_back(
      {"checkpoint", "one after another", {f64({3}), f64({3})}, [](Graph&, const Values& in) {
         Value x = in[0];
         for (int i = 0; i < 3; ++i)
           x = checkpoint({x}, [&](const Values& v) { return sin(v[0] * in[1]) + v[0] * x; });
         return x;
       }});
  all.push_back({"checkpoint", "two results", {f64({3}), f64({3})}, [](Graph&, const Values& in) {
                   const Values two = checkpoint({in[0]}, [&](const Values& v) -> Values {
                     return {sin(v[0]) * in[1], v[0] * v[0]};
                   });
                   return concat({two[0], two[1] * two[0]}, 0);
                 }});
  all.push_back(
      {"checkpoint", "of two results the second", {f64({3})}, [](Graph&, const Values& in) {
         return checkpoint({in[0]},
                           [&](const Values& v) -> Values { return {exp(v[0]), sin(v[0])}; })[1];
       }});
  all.push_back(
      {"checkpoint", "one result goes around", {f64({3}), f64({3})}, [](Graph&, const Values& in) {
         const Values out = checkpoint({in[0]}, [&](const Values& v) -> Values {
           return {sin(v[0] * in[1]), in[1], v[0] * v[0], tanh(v[0])};
         });
         return out[0] * out[1] + out[3];
       }});
  all.push_back({"barrier", "two operands", {f64({3}), f64({2})}, [](Graph&, const Values& in) {
                   const Values out = barrier({tanh(in[0]), in[1]});
                   return concat({out[0], out[1] * out[1]}, 0);
                 }});
}

void scan_cases(std::vector<OpCase>& all) {
  for (Remat remat : {Remat::kNone, Remat::kBlock}) {
    const std::string kind = remat == Remat::kNone ? " keeping" : " computing again";
    all.push_back({"scan",
                   "carry and outputs" + kind,
                   {f64({3}), f64({4, 3}), f64({3})},
                   [remat](Graph& g, const Values& in) {
                     const ScanResult r = scan(
                         g, 4, {in[0]}, {in[1]},
                         [&](const Values& c, const Values& x) -> ScanStep {
                           const Value next = tanh(c[0] * in[2] + sin(x[0]));
                           return {{next}, {next * next * x[0]}};
                         },
                         remat);
                     return concat({reshape(r.carry[0], {1, 3}), r.ys[0]}, 0);
                   }});
    all.push_back(
        {"scan", "nested" + kind, {f64({2}), f64({3, 2})}, [remat](Graph& g, const Values& in) {
           return scan(
                      g, 3, {in[0]}, {in[1]},
                      [&](const Values& c, const Values& x) -> ScanStep {
                        Graph& body = *c[0].graph;
                        const ScanResult inner = scan(
                            body, 2, {c[0]}, {},
                            [&](const Values& d, const Values&) -> ScanStep {
                              return {{sin(d[0] * x[0] + in[0])}, {}};
                            },
                            remat);
                        return {{inner.carry[0] + x[0] * c[0]}, {}};
                      },
                      remat)
               .carry[0];
         }});
    all.push_back({"scan",
                   "integer carry" + kind,
                   {f64({5, 2}), f64({2})},
                   [remat](Graph& g, const Values& in) {
                     const Value zero = constant(g, s32({}), 0);
                     return scan(
                                g, 5, {zero, in[1]}, {},
                                [&](const Values& c, const Values&) -> ScanStep {
                                  const Value row = reshape(
                                      dynamic_slice(in[0], {c[0], zeros_like(c[0])}, {1, 2}), {2});
                                  return {{c[0] + 1.0, c[1] * row}, {}};
                                },
                                remat)
                         .carry[1];
                   }});
    all.push_back(
        {"scan", "only outputs matter" + kind, {f64({3, 2})}, [remat](Graph& g, const Values& in) {
           const Value start = constant(g, f64({2}), 1);
           return scan(
                      g, 3, {start}, {in[0]},
                      [&](const Values& c, const Values& x) -> ScanStep {
                        return {{c[0] + x[0] * x[0]}, {c[0] * x[0]}};
                      },
                      remat)
               .ys[0];
         }});
  }
}

}  // namespace hone
