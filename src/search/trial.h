// What is known of one trial, and which of two is the better.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "search/space.h"

namespace hone::search {

enum class State {
  kRunning,
  kComplete,  // ran to its end
  kStopped,   // at a rung, or by its own early stopping
  kFailed,    // refused, or ended in an error: `note` says which
};
inline constexpr std::string_view kStateNames[] = {"running", "complete", "stopped", "failed"};
constexpr std::string_view name_of(State s) { return kStateNames[static_cast<size_t>(s)]; }

struct Measurement {
  int64_t step = 0;
  double value = 0;
  bool operator==(const Measurement&) const = default;
};

struct Trial {
  int64_t id = 0;
  State state = State::kRunning;
  std::vector<double> numbers = {};            // one for each parameter
  std::vector<Measurement> measurements = {};  // of the objective, while it ran
  std::optional<double> value = {};            // the objective's last
  int64_t steps = 0;                           // done
  std::map<std::string, double> metrics = {};  // whatever else was reported at the end
  std::string started = {};                    // "2026-01-31T12:00:00Z"
  double seconds = 0;
  std::string note = {};
};

// Indices, best first: complete trials by value, then stopped ones (those that came further
// first, then by value), then failed ones; in the order of their ids where they are equal.
std::vector<size_t> ranking(const Space& space, std::span<const Trial> trials);

// The best trial that has a value.
const Trial* best_of(const Space& space, std::span<const Trial> trials);

}  // namespace hone::search
