// The data set: which tasks are trained on, which only validate, which are held out.
//
// Everything follows from kSplitSeed: the same build gives the same set, byte for byte, on every
// machine (split_test.cc holds its digest). No prompt and no module text stands in two places. In
// addition no module of held_out has the shape (shape.h) of a module of training or validation, so
// that its combination of widths, constants, polarities and styles is new, not only its names.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "verilog/task.h"

namespace hone::verilog {

constexpr uint64_t kSplitSeed = 20240917;
constexpr int64_t kTrainingPerKind = 15;
constexpr int64_t kValidation = 40;
constexpr int64_t kHeldOut = 20;
constexpr int64_t kUnseenPerKind = 4;

struct Split {
  std::vector<Task> training;    // kTrainingPerKind of every trained kind, in random order
  std::vector<Task> validation;  // trained kinds in turn
  std::vector<Task> held_out;    // one of each of kHeldOut trained kinds
  std::vector<Task> unseen;      // kUnseenPerKind of each kind that is never trained
};

// The kinds kept out of training whole. Each mirrors a trained one: up_counter, adder, minimum,
// rising_edge, shift_right.
std::span<const std::string_view> unseen_kinds();

Split make_split();

}  // namespace hone::verilog
