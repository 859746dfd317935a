#include "data/packing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iostream>

#include "base/random.h"
#include "data/summary.h"

namespace hone::data {
namespace {

using Bins = std::vector<std::vector<size_t>>;

TEST(Packing, IsFirstFitDecreasing) {
  const struct {
    std::vector<int64_t> lengths;
    Bins bins;
  } table[] = {
      {{}, {}},
      {{10}, {{0}}},
      {{5, 5}, {{0, 1}}},
      {{6, 5}, {{0}, {1}}},
      {{3, 7, 5, 2, 5, 8}, {{5, 3}, {1, 0}, {2, 4}}},  // 8+2, 7+3, 5+5
      {{4, 4, 4, 6, 6}, {{3, 0}, {4, 1}, {2}}},
      {{0, 10, 0}, {{1, 0, 2}}},
  };
  for (const auto& row : table) EXPECT_EQ(first_fit_decreasing(row.lengths, 10), row.bins);
}

TEST(Packing, AgreesWithTheSimpleForm) {
  Random random(5);
  for (int n = 0; n < 50; ++n) {
    std::vector<int64_t> lengths;
    for (int64_t i = random.below(200); i > 0; --i) lengths.push_back(random.between(1, 100));
    std::vector<int64_t> sorted = lengths, rooms;
    std::ranges::sort(sorted, std::greater());
    for (const int64_t length : sorted) {
      auto bin = std::ranges::find_if(rooms, [&](int64_t room) { return room >= length; });
      if (bin == rooms.end()) bin = rooms.insert(rooms.end(), 100);
      *bin -= length;
    }
    EXPECT_EQ(first_fit_decreasing(lengths, 100).size(), rooms.size());
  }
}

// Lengths as the paper has them: log-normal with mean 922 and p99 2553, at most 3072.
std::vector<Sample> paper_samples(int count) {
  // mean = exp(m + s^2 / 2), p99 = exp(m + 2.326 s)
  const double gap = std::log(2553.0 / 922), z = 2.3263;
  const double s = z - std::sqrt(z * z - 2 * gap), m = std::log(922.0) - s * s / 2;
  Random random(1);
  std::vector<Sample> samples;
  while (std::ssize(samples) < count) {
    const auto length = static_cast<size_t>(std::exp(m + s * random.normal()));
    if (length < 2 || length > 3072) continue;
    samples.push_back({std::vector<int32_t>(length, 1), std::vector<uint8_t>(length, 1)});
  }
  return samples;
}

TEST(Packing, FillsTheRowsOfThePapersLengths) {
  const SampleSet set(paper_samples(20'000), {.batch = 1, .seq_len = 3072}, "training set");
  const Filling padded = unpacked_filling(set), packed = packed_filling(set, 0);
  const double gain = packed.share / padded.share;
  std::cout << "mean length " << set.counts.tokens / set.size() << ": " << padded.rows
            << " rows padded hold " << 100 * padded.share << "%, " << packed.rows << " packed "
            << 100 * packed.share << "%: " << gain << "x real tokens a batch\n";
  EXPECT_GT(packed.share, 0.99);
  EXPECT_GT(gain, 3.0);
}

}  // namespace
}  // namespace hone::data
