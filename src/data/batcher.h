// The endless stream of training batches, and the place in it.
#pragma once

#include <cstdint>
#include <vector>

#include "data/batch.h"

namespace hone::data {

// The next sample to be taken: `index` in the shuffled order of `epoch`.
struct Cursor {
  int64_t epoch = 0;
  int64_t index = 0;
  bool operator==(const Cursor&) const = default;
};

// Epoch e takes every sample once, in an order that follows from (seed, e) alone. A batch takes
// the next B samples of the stream; one that meets the end of an epoch goes on in the next, so
// that every batch is full, even when the set is smaller than B (a sample may then stand twice in
// a batch). Two batchers with the same set, seed and cursor give the same batches.
class Batcher {
 public:
  // `batches` is the length of the run from its start: R is the largest number of targets in any
  // of these batches, rounded up, whatever the cursor. Asking for more batches is a bug.
  Batcher(const SampleSet& set, uint64_t seed, int64_t batches);

  Batch next();
  Cursor cursor() const { return cursor_; }
  // Goes on from a saved cursor. Throws ConfigError when it is not one of this set.
  void seek(const Cursor& cursor);
  int64_t targets_padded() const { return targets_padded_; }  // R

 private:
  std::vector<int64_t> take();

  const SampleSet& set_;
  uint64_t seed_;
  Cursor cursor_;
  int64_t ordered_epoch_ = -1;
  std::vector<int64_t> order_;  // of ordered_epoch_
  int64_t targets_padded_ = 0;
};

}  // namespace hone::data
