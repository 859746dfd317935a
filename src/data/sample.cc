#include "data/sample.h"

#include <algorithm>

namespace hone::data {

int64_t target_count(const Sample& sample) {
  if (sample.mask.empty()) return 0;
  return std::count_if(sample.mask.begin() + 1, sample.mask.end(),
                       [](uint8_t m) { return m != 0; });
}

}  // namespace hone::data
