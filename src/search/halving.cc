#include "search/halving.h"

#include <algorithm>

#include "base/check.h"

namespace hone::search {

std::vector<int64_t> rungs_of(const Space& space) {
  std::vector<int64_t> rungs;
  if (!space.halves()) return rungs;
  check(space.steps && space.rungs.first, "rungs of a space without steps");
  for (int64_t rung = *space.rungs.first; rung < *space.steps; rung *= space.rungs.factor)
    rungs.push_back(rung);
  return rungs;
}

bool goes_on(const Space& space, const Measurement& at_rung, std::span<const Trial> done) {
  int64_t reached = 1, better = 0;
  for (const Trial& trial : done) {
    const auto there = std::ranges::find(trial.measurements, at_rung.step, &Measurement::step);
    if (there == trial.measurements.end()) continue;
    ++reached;
    better += space.better(there->value, at_rung.value);
  }
  return better < std::max<int64_t>(1, reached / space.rungs.factor);
}

}  // namespace hone::search
