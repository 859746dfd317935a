// Training batches from tokenised examples.
//
// Letters: B rows of a batch, S tokens of a row (seq_len), R targets of a batch (padded).
// A batch holds, row-major and with every entry filled in:
//   tokens      i32 [B,S]  token ids; 0 where segments is 0
//   positions   i32 [B,S]  0, 1, 2, ... within each sample; 0 where segments is 0
//   segments    i32 [B,S]  0 is padding; 1, 2, ... number the samples of a row. A query attends
//                          to keys of its own segment only.
//   rows        i32 [R]    b * S + s of each position whose next token, in the same segment, is a
//                          target (mask[s + 1] of its sample); ascending; 0 in padding entries
//   labels      i32 [R]    that next token; 0 in padding entries
//   weights     f32 [R]    1 for a target, 0 for padding; targets come first
//   row_sample  i32 [R]    the sample that each target belongs to: they are numbered 0, 1, ... in
//                          the order in which they stand in the batch (unpacked, by row); 0 in
//                          padding entries
// The loss of a batch is sum(weights * token loss) / sum(weights).
// Of pairs, rows 2i and 2i + 1 hold the chosen and the rejected answer of one prompt.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/order.h"
#include "data/sample_set.h"

namespace hone::data {

struct Batch {
  std::vector<int32_t> tokens, positions, segments, rows, labels, row_sample;
  std::vector<float> weights;
  int64_t samples = 0;      // in it
  int64_t real_tokens = 0;  // of the samples, padding not counted
  int64_t targets = 0;      // sum of weights
};

int64_t round_targets(int64_t targets);  // up to a multiple of 32

// One batch of these rows, each the numbers of its samples; rows that are not there are padding. R
// is `targets_padded`, which must hold all targets.
Batch make_batch(const SampleSet& set, std::span<const std::vector<uint32_t>> rows,
                 int64_t targets_padded);

// Every sample once, in order; the last batch may have padding rows. R is the same in all: the
// largest number of targets in any of them, rounded up. For evaluation.
std::vector<Batch> batches_once(const SampleSet& set);

}  // namespace hone::data
