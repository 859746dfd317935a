// Training batches from tokenised examples.
//
// Letters: B rows of a batch, S tokens of a row (seq_len), R targets of a batch (padded).
// A batch holds, row-major and with every entry filled in:
//   tokens     i32 [B,S]  token ids; 0 where segments is 0
//   positions  i32 [B,S]  0, 1, 2, ... within each example; 0 where segments is 0
//   segments   i32 [B,S]  0 is padding; 1, 2, ... number the examples of a row. A query attends
//                         to keys of its own segment only. One example a row for now.
//   rows       i32 [R]    b * S + s of each position whose next token, in the same segment, is a
//                         target (mask[s + 1] of its example); ascending; 0 in padding entries
//   labels     i32 [R]    that next token; 0 in padding entries
//   weights    f32 [R]    1 for a target, 0 for padding; targets come first
// The loss of a batch is sum(weights * token loss) / sum(weights).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace hone::data {

// One tokenised example. mask[i] is 1 where token i is to be learnt, else 0. mask[0] has no effect:
// nothing predicts the first token.
struct Sample {
  std::vector<int32_t> ids;
  std::vector<uint8_t> mask;  // as long as ids
};

struct BatchShape {
  int64_t batch = 1;    // B >= 1
  int64_t seq_len = 2;  // S >= 2; B x S < 2^31
};

struct Batch {
  std::vector<int32_t> tokens, positions, segments, rows, labels;
  std::vector<float> weights;
  int64_t real_tokens = 0;  // of the examples, padding not counted
  int64_t targets = 0;      // sum of weights
};

// What became of the examples of a set.
struct Counts {
  int64_t kept = 0;
  int64_t too_long = 0;   // more than S tokens: dropped
  int64_t no_target = 0;  // no mask[i] with i >= 1: dropped, it would train nothing
};

// A set of samples that fit S, in their order. Throws ConfigError when none is left, saying why,
// and when the shape is out of range. `set` names the set in messages: "training set".
struct SampleSet {
  SampleSet(std::vector<Sample> samples, BatchShape batch_shape, const std::string& set);

  std::vector<Sample> samples;
  BatchShape shape;
  Counts counts;
};

int64_t target_count(const Sample& sample);
int64_t round_targets(int64_t targets);  // up to a multiple of 32

// One batch of the samples with these numbers, one a row; rows without one are padding. R is
// `targets_padded`, which must hold them all.
Batch make_batch(const SampleSet& set, std::span<const int64_t> numbers, int64_t targets_padded);

// Every sample once, in order; the last batch may have padding rows. R is the same in all: the
// largest number of targets in any of them, rounded up. For evaluation.
std::vector<Batch> batches_once(const SampleSet& set);

}  // namespace hone::data
