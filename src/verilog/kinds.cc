#include "verilog/kinds.h"

#include "verilog/families.h"

namespace hone::verilog {

std::span<const Kind* const> kinds() {
  static const Kind* const all[] = {
      &kBitwiseGate,
      &kParity,
      &kComparator,
      &kRangeCheck,
      &kGrayEncoder,
      &kSlice,
      &kMux2,
      &kMux4,
      &kDecoder,
      &kPriorityEncoder,
      &kAdder,
      &kSubtractor,
      &kMinimum,
      &kMaximum,
      &kAbsoluteDifference,
      &kSaturatingAdder,
      &kExtend,
      &kConstantArithmetic,
      &kAlu,
      &kUpCounter,
      &kDownCounter,
      &kModuloCounter,
      &kUpDownCounter,
      &kLoadableCounter,
      &kStoppingCounter,
      &kRegister,
      &kAccumulator,
      &kDelay,
      &kSetClear,
      &kToggle,
      &kShiftRight,
      &kShiftLeft,
      &kRingCounter,
      &kLfsr,
      &kRisingEdge,
      &kFallingEdge,
      &kAnyEdge,
      &kSequenceDetector,
      &kCycle,
      &kRam,
      &kRom,
  };
  return all;
}

}  // namespace hone::verilog
