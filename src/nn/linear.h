// y = x W^T, with the adapter where the run asks for one.
#pragma once

#include <optional>

#include "nn/scope.h"

namespace hone::nn {

class Linear {
 public:
  // W is [out, in], as checkpoints store it.
  Linear(Scope p, Axis in, Axis out);
  // A head tied to the embedding table: W is the table.
  explicit Linear(Matrix table) : w_(std::move(table)) {}
  Value operator()(Value x) const;  // [..., in] -> [..., out]

 private:
  struct Adapter {
    Value a, b;       // [rank, in], [out, rank]
    Value magnitude;  // [out]; {} without DoRA
    double scale;
    const Params* params;  // says what is dropped, at each call
    int64_t number;        // of this adapter
  };
  Matrix w_;
  std::optional<Adapter> adapter_;
};

}  // namespace hone::nn
