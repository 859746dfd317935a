// One tokenised example.
#pragma once

#include <cstdint>
#include <vector>

namespace hone::data {

// mask[i] is 1 where token i is to be learnt, else 0. mask[0] has no effect: nothing predicts the
// first token.
struct Sample {
  std::vector<int32_t> ids = {};
  std::vector<uint8_t> mask = {};  // as long as ids
  bool operator==(const Sample&) const = default;
};

int64_t target_count(const Sample& sample);

}  // namespace hone::data
