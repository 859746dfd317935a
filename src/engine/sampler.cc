#include "engine/sampler.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/error.h"

namespace hone::engine {
namespace {

struct Candidate {
  int32_t token;
  double probability;  // not normalised after the filters
};

// The candidates in falling order of probability, after top-k.
std::vector<Candidate> most_likely(std::span<const float> logits, const Sampling& s) {
  std::vector<int32_t> order(logits.size());
  std::iota(order.begin(), order.end(), 0);
  const auto likelier = [&](int32_t a, int32_t b) {
    return logits[static_cast<size_t>(a)] != logits[static_cast<size_t>(b)]
               ? logits[static_cast<size_t>(a)] > logits[static_cast<size_t>(b)]
               : a < b;
  };
  const size_t keep =
      s.top_k > 0 ? std::min(order.size(), static_cast<size_t>(s.top_k)) : order.size();
  std::partial_sort(order.begin(), order.begin() + static_cast<long>(keep), order.end(), likelier);
  order.resize(keep);

  std::vector<Candidate> all;
  const double top = logits[static_cast<size_t>(order.front())];
  double total = 0;
  for (int32_t t : order) {
    all.push_back({t, std::exp((logits[static_cast<size_t>(t)] - top) / s.temperature)});
    total += all.back().probability;
  }
  for (Candidate& c : all) c.probability /= total;
  return all;
}

void keep_top_p(std::vector<Candidate>& all, double top_p) {
  double reached = 0;
  size_t n = 0;
  while (n < all.size() && reached < top_p) reached += all[n++].probability;
  all.resize(std::max<size_t>(n, 1));
}

void keep_min_p(std::vector<Candidate>& all, double min_p) {
  const double least = all.front().probability * min_p;
  std::erase_if(all, [&](const Candidate& c) { return c.probability < least; });
}

}  // namespace

int32_t sample(std::span<const float> logits, const Sampling& s, Random& random) {
  if (std::ranges::any_of(logits, [](float v) { return std::isnan(v); }))
    throw Error("the model's logits are not numbers: a weight or an adapter is damaged");
  if (s.temperature <= 0.0)
    return static_cast<int32_t>(std::ranges::max_element(logits) - logits.begin());
  std::vector<Candidate> all = most_likely(logits, s);
  if (s.top_p < 1.0) keep_top_p(all, s.top_p);
  if (s.min_p > 0.0) keep_min_p(all, s.min_p);
  double total = 0;
  for (const Candidate& c : all) total += c.probability;
  double left = random.uniform() * total;
  for (const Candidate& c : all)
    if ((left -= c.probability) < 0) return c.token;
  return all.back().token;
}

}  // namespace hone::engine
