// How a frozen weight is held on the device: the arrays it becomes, and its values made again where
// they are used.
//
//   f32, bf16, f16   one array
//   int8             a scale for each row (the weights of LLM.int8(), arXiv:2208.07339); in
//                    bitsandbytes' numbers
//   nf4              4 bits in blocks of 64, the blocks' scales in 8 bits (QLoRA,
//                    arXiv:2305.14314); in bitsandbytes' numbers, bit for bit (nf4.h)
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "ir/graph.h"

namespace hone::nn {

struct Store {
  struct Part {
    std::string_view name;  // follows the weight's name; "" for the only part
    Type type;
  };

  std::string_view name;
  std::vector<Part> (*parts)(const Dims& dims);
  // From row-major values to the bytes of each part, which have the parts' sizes.
  void (*encode)(std::span<const float> values, const Dims& dims,
                 std::span<const std::span<std::byte>> out);
  Value (*widen)(const Values& parts, const Dims& dims);  // f32, or the only part as it is
};

extern const Store kStoreF32, kStoreBF16, kStoreF16, kStoreInt8, kStoreNf4;

std::span<const Store* const> stores();

// A weight as it is held. Its values are made at each call: inside a checkpointed block they are
// gone after the block, and the backward pass makes them again.
class Matrix {
 public:
  Matrix(const Store& store, Values parts, Dims dims, DType compute)
      : store_(&store), parts_(std::move(parts)), dims_(std::move(dims)), compute_(compute) {}
  // NOLINTNEXTLINE(google-explicit-constructor): any value is a matrix that is held as itself
  Matrix(Value value) : Matrix(kStoreF32, {value}, value.dims(), value.dtype()) {}

  // In `where`, the graph that uses them: that of the weight, or one inside it.
  Value operator()(Graph& where) const;
  // For a product with x. They are not made before x is there, so that the compiler neither makes
  // the values of all layers at once nor keeps those of the forward pass for the backward pass.
  Value operator()(Value& x) const;
  Value rows(Value ids) const;  // those of a table, i32 [r..] -> [r.., columns]
  // The one array of a weight that is not quantised, in the type that it is held in.
  Value held(Graph& where) const;

 private:
  const Store* store_;
  Values parts_;
  Dims dims_;
  DType compute_;
};

}  // namespace hone::nn
