// The largest loss that a step may have: a spike is a step to leave out, not to learn from.
#pragma once

#include <cstdint>
#include <limits>

namespace hone::train {

struct LossGuard {
  double factor = 0;  // times the recent mean; 0 lets everything pass
  double mean = 0;    // of recent losses, each step weighing 1/20 of what came before
  int64_t seen = 0;

  double limit() const {
    constexpr int64_t kWarmUp = 10;  // steps until the mean means something
    if (factor == 0 || seen < kWarmUp) return std::numeric_limits<double>::infinity();
    return factor * mean;
  }
  // A loss that was let pass.
  void see(double loss) {
    ++seen;
    const double weight = seen < 20 ? 1.0 / static_cast<double>(seen) : 0.05;
    mean += weight * (loss - mean);
  }
};

}  // namespace hone::train
