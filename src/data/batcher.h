// The endless stream of training batches, and the place in it.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "data/batch.h"

namespace hone::data {

// The next row to be taken: `index` in the rows of `epoch` (order.h).
struct Cursor {
  int64_t epoch = 0;
  int64_t index = 0;
  bool operator==(const Cursor&) const = default;
};

// {"epoch": 0, "index": 0}; cursor_of() throws ConfigError where it is none.
nlohmann::ordered_json to_json(const Cursor& cursor);
Cursor cursor_of(const nlohmann::ordered_json& json);

// A batch takes the next B rows of the stream of epochs; one that meets the end of an epoch goes
// on in the next, so that every batch is full, even when the set is smaller than B (a sample may
// then stand twice in a batch). Two batchers with the same set, seed and cursor give the same
// batches, whatever the length of their runs; only R may differ.
class Batcher {
 public:
  // `batches` is the length of the run from its start: R is the largest number of targets in any
  // of these batches, rounded up, whatever the cursor.
  Batcher(const SampleSet& set, uint64_t seed, int64_t batches);

  // Throws Error beyond the run, when a batch has more than R targets.
  Batch next();
  Cursor cursor() const { return cursor_; }
  // Goes on from a saved cursor. Throws ConfigError when it is not one of this set.
  void seek(const Cursor& cursor);
  int64_t targets_padded() const { return targets_padded_; }  // R

 private:
  using Taken = std::vector<std::vector<uint32_t>>;
  Taken take();
  int64_t targets_of(const Taken& rows) const;
  void plan(int64_t epoch);

  const SampleSet& set_;
  uint64_t seed_;
  Cursor cursor_;
  int64_t planned_ = -1;
  Rows rows_;  // of epoch planned_
  int64_t targets_padded_ = 0;
};

}  // namespace hone::data
