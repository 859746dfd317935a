#include "data/packing.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "base/check.h"

namespace hone::data {
namespace {

// The room that is left in each bin, with the largest of each half above it: the first bin with
// room enough is found by walking down.
class Rooms {
 public:
  Rooms(size_t bins, int64_t capacity)
      : leaves_(std::bit_ceil(std::max<size_t>(1, bins))), largest_(2 * leaves_, capacity) {}

  size_t first_with(int64_t room) const {
    size_t node = 1;
    while (node < leaves_) node = 2 * node + (largest_[2 * node] < room ? 1 : 0);
    return node - leaves_;
  }
  void take(size_t bin, int64_t room) {
    size_t node = bin + leaves_;
    largest_[node] -= room;
    while (node /= 2) largest_[node] = std::max(largest_[2 * node], largest_[2 * node + 1]);
  }

 private:
  size_t leaves_;
  std::vector<int64_t> largest_;
};

}  // namespace

std::vector<std::vector<size_t>> first_fit_decreasing(std::span<const int64_t> lengths,
                                                      int64_t capacity) {
  std::vector<size_t> order(lengths.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::ranges::greater(), [&](size_t i) { return lengths[i]; });
  Rooms rooms(lengths.size(), capacity);
  std::vector<std::vector<size_t>> bins;
  for (const size_t i : order) {
    check(lengths[i] <= capacity, "a sample of {} tokens in a row of {}", lengths[i], capacity);
    const size_t bin = rooms.first_with(lengths[i]);
    rooms.take(bin, lengths[i]);
    if (bin == bins.size()) bins.emplace_back();
    bins[bin].push_back(i);
  }
  return bins;
}

}  // namespace hone::data
