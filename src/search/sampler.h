// Samplers propose the values of a trial. Each is a record; sampler.cc lists them.
//
// A proposal follows from the space (its seed included), the trial's id and the trials before it
// and from nothing else, so a study that was cut goes on as if it had not been.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "search/trial.h"

namespace hone::search {

struct Sampler {
  std::string_view name;
  // `done` are trials 0 to id - 1. One number for each parameter.
  std::vector<double> (*suggest)(const Space& space, std::span<const Trial> done, Random& random);
};

extern const Sampler kRandom;  // each value on its own
extern const Sampler kGrid;    // every combination, the last parameter first
extern const Sampler kTpe;     // Bergstra, Bardenet, Bengio, Kégl: Algorithms for hyper-parameter
                               // optimization, 2011

const Sampler& sampler_of(const Space& space);

// "" when the values go together; otherwise why not.
using Refusal = std::function<std::string(std::span<const double> numbers)>;

struct Suggestion {
  std::vector<double> numbers;
  std::string refused;  // of the last draw; a grid has one, the others try again a hundred times
};
Suggestion suggest(const Space& space, std::span<const Trial> done, const Refusal& refusal);

}  // namespace hone::search
