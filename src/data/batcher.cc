#include "data/batcher.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "base/random.h"

namespace hone::data {
namespace {

std::vector<int64_t> order_of(uint64_t seed, int64_t epoch, size_t count) {
  std::vector<int64_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  // The seeds of two epochs must not be neighbours in one stream: mix them apart.
  Random random(Random(seed).bits() ^ Random(static_cast<uint64_t>(epoch)).bits());
  random.shuffle(order);
  return order;
}

}  // namespace

Batcher::Batcher(const SampleSet& set, uint64_t seed, int64_t batches) : set_(set), seed_(seed) {
  int64_t most = 0;
  for (int64_t i = 0; i < batches; ++i) {
    int64_t targets = 0;
    for (const int64_t number : take())
      targets += target_count(set_.samples[static_cast<size_t>(number)]);
    most = std::max(most, targets);
  }
  targets_padded_ = round_targets(most);
  cursor_ = {};
}

std::vector<int64_t> Batcher::take() {
  std::vector<int64_t> numbers;
  while (std::ssize(numbers) < set_.shape.batch) {
    if (cursor_.index == std::ssize(set_.samples)) cursor_ = {cursor_.epoch + 1, 0};
    if (ordered_epoch_ != cursor_.epoch) {
      ordered_epoch_ = cursor_.epoch;
      order_ = order_of(seed_, cursor_.epoch, set_.samples.size());
    }
    numbers.push_back(order_[static_cast<size_t>(cursor_.index++)]);
  }
  return numbers;
}

Batch Batcher::next() { return make_batch(set_, take(), targets_padded_); }

void Batcher::seek(const Cursor& cursor) {
  if (cursor.epoch < 0 || cursor.index < 0 || cursor.index > std::ssize(set_.samples))
    throw ConfigError(
        "cannot resume at epoch {}, example {}: the training set has {} examples; resume with the "
        "data the run began with",
        cursor.epoch, cursor.index, set_.samples.size());
  cursor_ = cursor;
}

}  // namespace hone::data
