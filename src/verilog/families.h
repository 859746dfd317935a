// The kinds, family by family. Each is defined in the file named above it.
#pragma once

#include "verilog/task.h"

namespace hone::verilog {

// gates.cc
extern const Kind kBitwiseGate, kParity, kComparator, kRangeCheck, kGrayEncoder, kSlice;
// selectors.cc
extern const Kind kMux2, kMux4, kDecoder, kPriorityEncoder;
// arithmetic.cc
extern const Kind kAdder, kSubtractor, kMinimum, kMaximum, kAbsoluteDifference;
// datapath.cc
extern const Kind kSaturatingAdder, kExtend, kConstantArithmetic, kAlu;
// counters.cc
extern const Kind kUpCounter, kDownCounter, kModuloCounter, kUpDownCounter, kLoadableCounter,
    kStoppingCounter;
// registers.cc
extern const Kind kRegister, kAccumulator, kDelay, kSetClear, kToggle;
// shift_registers.cc
extern const Kind kShiftRight, kShiftLeft, kRingCounter, kLfsr;
// fsm.cc
extern const Kind kRisingEdge, kFallingEdge, kAnyEdge, kSequenceDetector, kCycle;
// memory.cc
extern const Kind kRam, kRom;

}  // namespace hone::verilog
