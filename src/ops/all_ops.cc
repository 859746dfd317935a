#include "ops/all_ops.h"

#include "ir/builtin.h"

namespace hone {

extern const Op kAbs, kBarrier, kBitCast, kBroadcast, kCheckpoint, kCompare, kConcat, kConvert,
    kCos, kDivide, kDynamicSlice, kDynamicUpdateSlice, kEinsum, kExp, kFloor, kFused,
    kGroupedMatmul, kGroupedOuter, kIota, kLiteral, kLog, kAnd, kNot, kOr, kXor, kMaximum, kMinimum,
    kMultiply, kNegate, kPad, kPower, kRandomBits, kReduceMax, kRemainder, kReshape, kRsqrt, kScan,
    kScatterAdd, kSelect, kShiftLeft, kShiftRight, kSigmoid, kSin, kSlice, kSqrt, kStopGradient,
    kSubtract, kSum, kTake, kTanh, kTopK, kTranspose;

std::span<const Op* const> all_ops() {
  static const Op* const all[] = {&kAdd,           &kConstant,
                                  &kAbs,           &kBarrier,
                                  &kBitCast,       &kBroadcast,
                                  &kCheckpoint,    &kCompare,
                                  &kConcat,        &kConvert,
                                  &kCos,           &kDivide,
                                  &kDynamicSlice,  &kDynamicUpdateSlice,
                                  &kEinsum,        &kExp,
                                  &kFloor,         &kFused,
                                  &kGroupedMatmul, &kGroupedOuter,
                                  &kIota,          &kLiteral,
                                  &kLog,           &kAnd,
                                  &kNot,           &kOr,
                                  &kXor,           &kMaximum,
                                  &kMinimum,       &kMultiply,
                                  &kNegate,        &kPad,
                                  &kPower,         &kRandomBits,
                                  &kReduceMax,     &kRemainder,
                                  &kReshape,       &kRsqrt,
                                  &kScan,          &kScatterAdd,
                                  &kSelect,        &kShiftLeft,
                                  &kShiftRight,    &kSigmoid,
                                  &kSin,           &kSlice,
                                  &kSqrt,          &kStopGradient,
                                  &kSubtract,      &kSum,
                                  &kTake,          &kTanh,
                                  &kTopK,          &kTranspose};
  return all;
}

}  // namespace hone
