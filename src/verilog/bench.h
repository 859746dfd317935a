// Test benches from a behavioural model in C++.
//
// The model knows nothing of the module's text: it maps input values and a state of at most 64 bits
// to output values. The bench carries the vectors and the model's answers as constants, drives the
// module, and compares every output with !==, so that x and z never match. A module with another
// port, one port more or fewer does not elaborate; one of another width fails. It prints
//   MISMATCH step 12: got 3f, want 3e      the first difference, outputs concatenated in port order
//   FAIL                                   or
//   PASS hone_nonce                        as its last line; simulate.h replaces the placeholder
// and ends with $finish in bounded simulated time.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/random.h"

namespace hone::verilog {

using Bits = std::vector<uint64_t>;  // one value a port

constexpr const char* kNonce = "hone_nonce";

inline uint64_t mask(int64_t width) {
  return width >= 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
}

struct Port {
  std::string name;
  int64_t width = 1;
  double high = 0.5;  // inputs of one bit: how often the bench drives 1
};

enum class ResetStyle { kNone, kSyncHigh, kSyncLow, kAsyncHigh, kAsyncLow };

inline bool active_low(ResetStyle s) {
  return s == ResetStyle::kSyncLow || s == ResetStyle::kAsyncLow;
}
inline bool asynchronous(ResetStyle s) {
  return s == ResetStyle::kAsyncHigh || s == ResetStyle::kAsyncLow;
}

struct Interface {
  std::string module;
  std::string clock;  // empty: combinational
  std::string reset;  // empty with kNone
  ResetStyle style = ResetStyle::kNone;
  std::vector<Port> inputs, outputs;  // without clock and reset; at most 64 bits a side
};

struct Model {
  std::function<Bits(const Bits& in, uint64_t state)> outputs;
  std::function<uint64_t(const Bits& in, uint64_t state)> next =
      {};  // at a rising edge; empty: no state
  uint64_t reset_state = 0;
};

inline Model combinational(std::function<Bits(const Bits& in)> outputs) {
  return {.outputs = [outputs](const Bits& in, uint64_t) { return outputs(in); }};
}

// One output, which is the state.
inline Model counted(std::function<uint64_t(const Bits& in, uint64_t state)> next,
                     uint64_t reset_state) {
  return {.outputs = [](const Bits&, uint64_t state) { return Bits{state}; },
          .next = std::move(next),
          .reset_state = reset_state};
}

struct Plan {
  int64_t steps = 240;  // vectors; combinational ones of at most 10 input bits are exhaustive
  std::vector<Bits> opening = {};  // driven first, after two steps of reset where there is one
  int64_t unchecked = 0;           // first steps after those of reset that are not compared
};

// A clocked module is looked at twice a step: after the inputs change with the clock low (a
// synchronous reset must not act yet, an asynchronous one must) and after the rising edge.
std::string bench(const Interface& face, const Model& model, const Plan& plan, Random& random);

}  // namespace hone::verilog
