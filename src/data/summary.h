// What a set holds, in words and numbers for people.
#pragma once

#include <string>
#include <vector>

#include "data/sample_set.h"

namespace hone::data {

// "120 examples, 34,567 tokens, 8,910 learnt; dropped 3 longer than seq_len 512".
std::string summary(const SampleSet& set);

// What somebody should look at: samples that teach no end of a turn, columns that were not read.
std::vector<std::string> warnings(const SampleSet& set);

struct LengthBin {
  int64_t upto = 0, samples = 0;  // lengths at most this, and above the bin before
};
std::vector<LengthBin> length_histogram(const SampleSet& set);  // ends at seq_len

// Real tokens over the places of all rows of an epoch, as they are filled.
struct Filling {
  int64_t rows = 0;
  double share = 0;
};
Filling unpacked_filling(const SampleSet& set);
Filling packed_filling(const SampleSet& set, uint64_t seed);

}  // namespace hone::data
