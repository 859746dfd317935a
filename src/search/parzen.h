// The Parzen estimator of one parameter: a mixture with one kernel for each observed value and a
// wide one over everything, the prior.
//
// A range's kernels are normal distributions cut at its ends, on its axis (parameter.h). Each is as
// wide as the distance to its further neighbour, at most the range and at least a hundredth of it
// (more while there are few). A choice's kernel gives its own choice 1 more than each of all.
// The newest 25 observations count in full, older ones less and less.
#pragma once

#include <vector>

#include "search/parameter.h"

namespace hone::search {

class Parzen {
 public:
  // `observed` in the order of the trials.
  Parzen(const Parameter& parameter, const std::vector<double>& observed);

  double draw(Random& random) const;
  // Of the density on the axis, or of the probability of a value with a step or a choice.
  double log_likelihood(double number) const;

 private:
  struct Kernel {
    double centre = 0, width = 0;  // of a range
    double weight = 0;             // they sum to 1
  };

  void place_kernels(const std::vector<double>& observed);
  double likelihood(const Kernel& k, double number) const;
  double choice_likelihood(const Kernel& k, double number) const;

  const Parameter& parameter_;
  std::vector<Kernel> kernels_;  // the last is the prior
};

}  // namespace hone::search
