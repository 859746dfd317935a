// The tree-structured Parzen estimator, each parameter on its own.
//
// The trials so far are split into the best tenth (at most 25) and the rest. From the density of
// the best, `tpe.candidates` values are drawn; the one for which (density of the best) / (density
// of the rest) is highest is proposed. Failed trials belong to the rest: where training diverges
// is worth avoiding.
#include <algorithm>
#include <cmath>

#include "search/parzen.h"
#include "search/sampler.h"

namespace hone::search {
namespace {

constexpr double kBestShare = 0.1;
constexpr size_t kMostBest = 25;

std::vector<double> observed(std::span<const Trial> done, const std::vector<size_t>& which,
                             size_t parameter) {
  std::vector<double> values;
  for (const size_t i : which) values.push_back(done[i].numbers[parameter]);
  return values;
}

double propose(const Parzen& best, const Parzen& rest, int64_t candidates, Random& random) {
  double chosen = 0, highest = -INFINITY;
  for (int64_t i = 0; i < candidates; ++i) {
    const double value = best.draw(random);
    const double gain = best.log_likelihood(value) - rest.log_likelihood(value);
    if (i > 0 && !(gain > highest)) continue;
    chosen = value;
    highest = gain;
  }
  return chosen;
}

std::vector<double> tpe_values(const Space& space, std::span<const Trial> done, Random& random) {
  if (static_cast<int64_t>(done.size()) < space.tpe.startup)
    return kRandom.suggest(space, done, random);
  std::vector<size_t> best = ranking(space, done), rest;
  const auto tenth = static_cast<size_t>(std::ceil(kBestShare * static_cast<double>(done.size())));
  const auto cut = best.begin() + static_cast<std::ptrdiff_t>(std::min(tenth, kMostBest));
  rest.assign(cut, best.end());
  best.erase(cut, best.end());
  std::ranges::sort(best);  // in the order of the trials, by which Parzen weighs them
  std::ranges::sort(rest);

  std::vector<double> numbers;
  for (size_t p = 0; p < space.parameters.list.size(); ++p) {
    const Parameter& parameter = space.parameters.list[p];
    numbers.push_back(propose(Parzen(parameter, observed(done, best, p)),
                              Parzen(parameter, observed(done, rest, p)), space.tpe.candidates,
                              random));
  }
  return numbers;
}

}  // namespace

const Sampler kTpe{"tpe", tpe_values};

}  // namespace hone::search
