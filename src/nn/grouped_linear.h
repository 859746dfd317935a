// y = W x with a matrix for each group of rows, as experts have them, and the adapters of those.
#pragma once

#include <optional>

#include "nn/scope.h"

namespace hone::nn {

class GroupedLinear {
 public:
  // Declares PATH.leaf, [groups, out, in], and its adapter where the run asks for one: the matrices
  // A [groups, rank, in] and B [groups, out, rank].
  GroupedLinear(Scope p, std::string_view leaf, Axis groups, Axis in, Axis out);

  // Rows sorted by group, sizes[0] of group 0 first: [r, in] and i32 [groups] -> [r, out]. On a CPU
  // the matrices of groups without rows are not read.
  Value operator()(Value rows, Value sizes) const;

 private:
  struct Adapter {
    Value a, b;
    double scale;
  };
  Matrix w_;
  std::optional<Adapter> adapter_;
};

}  // namespace hone::nn
