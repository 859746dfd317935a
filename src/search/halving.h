// Asynchronous successive halving (Li, Jamieson, Rostamizadeh, Gonina, Ben-tzur, Hardt, Recht,
// Talwalkar: A system for massively parallel hyperparameter tuning, 2020), in its stopping form: a
// trial that reaches a rung goes on when it is among the best 1 / factor of all that have reached
// it so far, and ends there otherwise. Nothing is paused.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "search/trial.h"

namespace hone::search {

// first, first * factor, ... below `steps`; none when the space does not halve. `space.steps` and
// `space.rungs.first` must have values then.
std::vector<int64_t> rungs_of(const Space& space);

// `done`: the trials before. While fewer than `factor` have reached the rung, only a best goes on.
bool goes_on(const Space& space, const Measurement& at_rung, std::span<const Trial> done);

}  // namespace hone::search
