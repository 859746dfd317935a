#include "pjrt/types.h"

#include <array>
#include <utility>

#include "base/check.h"
#include "pjrt/error.h"

namespace hone::pjrt {
namespace {

constexpr std::array kPairs{
    std::pair{DType::kPred, PJRT_Buffer_Type_PRED}, std::pair{DType::kS8, PJRT_Buffer_Type_S8},
    std::pair{DType::kU8, PJRT_Buffer_Type_U8},     std::pair{DType::kS32, PJRT_Buffer_Type_S32},
    std::pair{DType::kU32, PJRT_Buffer_Type_U32},   std::pair{DType::kS64, PJRT_Buffer_Type_S64},
    std::pair{DType::kU64, PJRT_Buffer_Type_U64},   std::pair{DType::kF16, PJRT_Buffer_Type_F16},
    std::pair{DType::kBF16, PJRT_Buffer_Type_BF16}, std::pair{DType::kF32, PJRT_Buffer_Type_F32},
    std::pair{DType::kF64, PJRT_Buffer_Type_F64},
};

}  // namespace

PJRT_Buffer_Type to_pjrt(DType t) {
  for (const auto& [ours, theirs] : kPairs)
    if (ours == t) return theirs;
  check(false, "DType {} has no PJRT_Buffer_Type", name(t));
  return PJRT_Buffer_Type_INVALID;
}

Type from_pjrt(int element, std::span<const int64_t> dims) {
  for (const auto& [ours, theirs] : kPairs)
    if (theirs == element) return {ours, Dims(dims.begin(), dims.end())};
  throw Error(Code::kUnimplemented,
              "the program has a tensor of PJRT element type {}, unknown here", element);
}

}  // namespace hone::pjrt
