// DType, Dims and Type: what every layer says about a tensor. Row-major, dense.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hone {

enum class DType { kPred, kS8, kU8, kS32, kU32, kS64, kU64, kF16, kBF16, kF32, kF64 };

// StableHLO's spelling: "f32", "bf16", "i32", "ui8", "i1".
std::string_view name(DType t);
size_t byte_size(DType t);  // bytes of one element; kPred is one byte
bool is_float(DType t);

using Dims = std::vector<int64_t>;

struct Type {
  DType dtype = DType::kF32;
  Dims dims;

  bool operator==(const Type&) const = default;
  int64_t rank() const { return static_cast<int64_t>(dims.size()); }
  int64_t size() const;     // elements
  size_t bytes() const;     // elements x byte_size
  std::string str() const;  // "tensor<2x3xf32>"
};

}  // namespace hone
