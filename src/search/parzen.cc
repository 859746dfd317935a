#include "search/parzen.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace hone::search {
namespace {

constexpr size_t kFull = 25;  // observations that count in full

// Of observation i of n.
double weight_of(size_t i, size_t n) {
  if (n < kFull || i >= n - kFull) return 1;
  const double oldest = 1.0 / static_cast<double>(n);
  const size_t ramp = n - kFull;
  if (ramp == 1) return oldest;
  return oldest + (1 - oldest) * static_cast<double>(i) / static_cast<double>(ramp - 1);
}

// Of the normal distribution's mass between a and b standard deviations. On the far side both
// ends are near 1, so the difference is taken on the near one.
double mass(double a, double b) {
  if (a > 0) return mass(-b, -a);
  const auto below = [](double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); };
  return below(b) - below(a);
}

}  // namespace

Parzen::Parzen(const Parameter& parameter, const std::vector<double>& observed)
    : parameter_(parameter), kernels_(observed.size() + 1) {
  double sum = 0;
  for (size_t i = 0; i < kernels_.size(); ++i) {
    kernels_[i].weight = i < observed.size() ? weight_of(i, observed.size()) : 1;
    sum += kernels_[i].weight;
  }
  for (Kernel& k : kernels_) k.weight /= sum;
  for (size_t i = 0; i < observed.size(); ++i) kernels_[i].centre = observed[i];
  if (parameter.kind != Parameter::Kind::kChoice) place_kernels(observed);
}

void Parzen::place_kernels(const std::vector<double>& observed) {
  const double low = parameter_.axis_low(), high = parameter_.axis_high(), range = high - low;
  for (size_t i = 0; i < observed.size(); ++i) kernels_[i].centre = parameter_.axis(observed[i]);
  kernels_.back().centre = (low + high) / 2;

  std::vector<size_t> order(kernels_.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, {}, [&](size_t i) { return kernels_[i].centre; });
  const double narrowest = range / std::min(100.0, 1.0 + static_cast<double>(kernels_.size()));
  for (size_t i = 0; i < order.size(); ++i) {
    const bool first = i == 0, last = i + 1 == order.size();
    const double centre = kernels_[order[i]].centre;
    double left = centre - (first ? low : kernels_[order[i - 1]].centre);
    double right = (last ? high : kernels_[order[i + 1]].centre) - centre;
    // An outermost kernel has no neighbour at the range's end, once there are others to go by.
    if (order.size() >= 2 && first) left = 0;
    if (order.size() >= 2 && last) right = 0;
    kernels_[order[i]].width = std::clamp(std::max(left, right), narrowest, range);
  }
  kernels_.back().width = range;
}

double Parzen::draw(Random& random) const {
  double left = random.uniform();
  size_t i = 0;
  while (i + 1 < kernels_.size() && left >= kernels_[i].weight) left -= kernels_[i++].weight;
  const Kernel& k = kernels_[i];
  if (parameter_.kind == Parameter::Kind::kChoice) {
    left = random.uniform();
    double choice = 0;
    for (; choice < parameter_.high && left >= choice_likelihood(k, choice); ++choice)
      left -= choice_likelihood(k, choice);
    return choice;
  }
  // The centre lies in the range and the width is at most the range: a third or more hit.
  double x = 0;
  do x = k.centre + k.width * random.normal();
  while (x < parameter_.axis_low() || x > parameter_.axis_high());
  return parameter_.from_axis(x);
}

double Parzen::choice_likelihood(const Kernel& k, double number) const {
  const auto choices = static_cast<double>(parameter_.choices.size());
  const bool prior = &k == &kernels_.back();
  const double all = 1.0 / static_cast<double>(kernels_.size());
  return (all + (!prior && k.centre == number ? 1 : 0)) / (choices * all + (prior ? 0 : 1));
}

double Parzen::likelihood(const Kernel& k, double number) const {
  if (parameter_.kind == Parameter::Kind::kChoice) return choice_likelihood(k, number);
  const auto z = [&](double x) { return (x - k.centre) / k.width; };
  const double inside = mass(z(parameter_.axis_low()), z(parameter_.axis_high()));
  if (const double half = parameter_.step / 2; half > 0)
    return mass(z(parameter_.axis(number - half)), z(parameter_.axis(number + half))) / inside;
  const double d = z(parameter_.axis(number));
  return std::exp(-d * d / 2) / (std::sqrt(2 * std::numbers::pi) * k.width * inside);
}

double Parzen::log_likelihood(double number) const {
  double sum = 0;
  for (const Kernel& k : kernels_) sum += k.weight * likelihood(k, number);
  return std::log(sum);  // the prior keeps it above 0
}

}  // namespace hone::search
