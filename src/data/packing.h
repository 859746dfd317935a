// Several samples into one row, so that little of it is padding.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace hone::data {

// First-fit-decreasing: the longest first, each into the first bin that has room. Gives the bins,
// each with the indices of its lengths; every length must be at most `capacity`. O(n log n).
std::vector<std::vector<size_t>> first_fit_decreasing(std::span<const int64_t> lengths,
                                                      int64_t capacity);

}  // namespace hone::data
