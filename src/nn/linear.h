// y = x W^T, with the LoRA term where the run asks for one.
#pragma once

#include <optional>

#include "nn/scope.h"

namespace hone::nn {

class Linear {
 public:
  // W is [out, in], as checkpoints store it.
  Linear(Scope p, Axis in, Axis out);
  // A head tied to the embedding table: W is the table.
  explicit Linear(Value table) : w_(table) {}
  Value operator()(Value x) const;  // [..., in] -> [..., out]

 private:
  struct Adapter {
    Value a, b;  // [rank, in], [out, rank]
    double scale, dropout;
    Value dropout_key;  // {} outside training
  };
  Value w_;
  std::optional<Adapter> adapter_;
};

}  // namespace hone::nn
