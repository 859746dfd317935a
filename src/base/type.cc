#include "base/type.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>
#include <numeric>

namespace hone {

std::string_view name(DType t) {
  switch (t) {
    case DType::kPred:
      return "i1";
    case DType::kS8:
      return "i8";
    case DType::kU8:
      return "ui8";
    case DType::kS32:
      return "i32";
    case DType::kU32:
      return "ui32";
    case DType::kS64:
      return "i64";
    case DType::kU64:
      return "ui64";
    case DType::kF16:
      return "f16";
    case DType::kBF16:
      return "bf16";
    case DType::kF32:
      return "f32";
    case DType::kF64:
      return "f64";
  }
  return "?";
}

size_t byte_size(DType t) {
  switch (t) {
    case DType::kPred:
    case DType::kS8:
    case DType::kU8:
      return 1;
    case DType::kF16:
    case DType::kBF16:
      return 2;
    case DType::kS32:
    case DType::kU32:
    case DType::kF32:
      return 4;
    case DType::kS64:
    case DType::kU64:
    case DType::kF64:
      return 8;
  }
  return 0;
}

bool is_float(DType t) {
  return t == DType::kF16 || t == DType::kBF16 || t == DType::kF32 || t == DType::kF64;
}

int64_t Type::size() const {
  return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
}

size_t Type::bytes() const { return static_cast<size_t>(size()) * byte_size(dtype); }

std::string Type::str() const {
  return dims.empty() ? fmt::format("tensor<{}>", name(dtype))
                      : fmt::format("tensor<{}x{}>", fmt::join(dims, "x"), name(dtype));
}

}  // namespace hone
