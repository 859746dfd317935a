#include "data/order.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/random.h"
#include "data/packing.h"

namespace hone::data {
namespace {

constexpr size_t kWindow = 4096;  // samples that are packed together

// How often epoch takes sample i. The phases of neighbours are spread evenly (the golden ratio's
// multiples), so that each epoch takes nearly the same number.
int64_t times(const SampleSet& set, int64_t i, int64_t epoch) {
  const double weight = set.samples.weight(i);
  if (weight == 1) return 1;
  double phase = static_cast<double>(i) * 0.6180339887498949;
  phase -= std::floor(phase);
  const auto upto = [&](int64_t epochs) {
    return static_cast<int64_t>(std::floor(static_cast<double>(epochs) * weight + phase));
  };
  return upto(epoch + 1) - upto(epoch);
}

// The samples of an epoch; of pairs, the first ones.
std::vector<uint32_t> units(const SampleSet& set, int64_t epoch) {
  std::vector<uint32_t> all;
  all.reserve(set.samples.size());
  for (int64_t i = 0; i < set.size(); i += set.options.pairs ? 2 : 1)
    all.insert(all.end(), static_cast<size_t>(times(set, i, epoch)), static_cast<uint32_t>(i));
  return all;
}

std::vector<std::vector<uint32_t>> packed(const SampleSet& set, std::span<const uint32_t> window) {
  std::vector<int64_t> lengths;
  for (const uint32_t i : window) lengths.push_back(set.samples.length(i));
  std::vector<std::vector<uint32_t>> rows;
  for (const auto& bin : first_fit_decreasing(lengths, set.shape.seq_len)) {
    auto& row = rows.emplace_back();
    for (const size_t k : bin) row.push_back(window[k]);
  }
  return rows;
}

Rows rows_of(const SampleSet& set, std::span<const uint32_t> order, Random* random) {
  Rows rows;
  if (!set.options.packing) {
    for (const uint32_t i : order) {
      rows.add({{i}});
      if (set.options.pairs) rows.add({{i + 1}});
    }
    return rows;
  }
  for (; !order.empty(); order = order.subspan(std::min(kWindow, order.size()))) {
    auto window = packed(set, order.first(std::min(kWindow, order.size())));
    if (random != nullptr) random->shuffle(window);
    for (const auto& row : window) rows.add(row);
  }
  return rows;
}

}  // namespace

Rows epoch_rows(const SampleSet& set, uint64_t seed, int64_t epoch) {
  // Neighbouring seeds must not give each other's epochs.
  Random random(Random(seed).bits() + static_cast<uint64_t>(epoch));
  std::vector<uint32_t> order = units(set, epoch);
  random.shuffle(order);
  return rows_of(set, order, &random);
}

Rows rows_once(const SampleSet& set) {
  std::vector<uint32_t> order;
  for (int64_t i = 0; i < set.size(); i += set.options.pairs ? 2 : 1)
    order.push_back(static_cast<uint32_t>(i));
  return rows_of(set, order, nullptr);
}

double rows_an_epoch(const SampleSet& set, uint64_t seed) {
  if (set.options.packing) return static_cast<double>(epoch_rows(set, seed, 0).size());
  double rows = 0;
  for (int64_t i = 0; i < set.size(); ++i) rows += set.samples.weight(i);
  return rows;
}

}  // namespace hone::data
