// Which samples stand in which rows of an epoch: all of it follows from (set, seed, epoch).
#pragma once

#include "data/sample_set.h"

namespace hone::data {

// Rows one after another, each of one sample or, packed, of several.
class Rows {
 public:
  int64_t size() const { return std::ssize(ends_); }
  std::span<const uint32_t> operator[](int64_t row) const {
    const auto r = static_cast<size_t>(row);
    const size_t begin = r == 0 ? 0 : ends_[r - 1];
    return std::span(samples_).subspan(begin, ends_[r] - begin);
  }
  void add(std::span<const uint32_t> row) {
    samples_.insert(samples_.end(), row.begin(), row.end());
    ends_.push_back(samples_.size());
  }

 private:
  std::vector<uint32_t> samples_;
  std::vector<size_t> ends_;
};

// A source of weight w gives each of its samples w times an epoch: where w is no whole number, so
// often that after E epochs each was taken E x w times, rounded down or up. The samples (or pairs)
// are shuffled; packed, they go first-fit-decreasing into rows, 4096 at a time, and the rows of
// each such window are shuffled again.
Rows epoch_rows(const SampleSet& set, uint64_t seed, int64_t epoch);

// Every sample once, in order; packed, if the set is. For evaluation.
Rows rows_once(const SampleSet& set);

// Rows of an epoch, on average over epochs where the weights are no whole numbers. Packed, those
// of epoch 0.
double rows_an_epoch(const SampleSet& set, uint64_t seed);

}  // namespace hone::data
