// The samples of a run: views into token stores, cut to the length of a sequence, with the rows
// that they fill.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "data/token_store.h"

namespace hone::data {

struct BatchShape {
  int64_t batch = 1;    // B >= 1
  int64_t seq_len = 2;  // S >= 2; B x S < 2^31
};

enum class TooLong {
  kDrop,
  kTruncate,  // to the first S tokens
  kSplit,     // into pieces of S; each begins with the token that the one before ends with, so
              // that every target stays one
};

struct SetOptions {
  TooLong too_long = TooLong::kDrop;
  bool packing = false;
  bool pairs = false;  // samples 2i and 2i + 1 are the chosen and the rejected answer of one prompt
  // The examples whose hash falls into this share are for evaluation: all others are taken, or
  // only these. Equal examples fall together.
  double eval_share = 0;
  bool eval = false;
};

struct Source {
  std::shared_ptr<const TokenStore> store;
  double weight = 1;  // how often an epoch takes each sample; see order.h
};

// What became of the examples of a set; a pair is one.
struct Counts {
  int64_t kept = 0;       // of those there are
  int64_t too_long = 0;   // more than S tokens: dropped
  int64_t truncated = 0;  // ... or cut
  int64_t split = 0;      // ... or made into several
  int64_t no_target = 0;  // nothing is learnt, before or after the cut: dropped
  int64_t ends = 0;       // of the samples, those that teach the end of a turn
  int64_t tokens = 0, targets = 0;
};

// Part of a stored sample.
struct Piece {
  uint32_t source, index, begin, length, targets;
};

// The pieces in order.
class SampleList {
 public:
  size_t size() const { return pieces_.size(); }
  bool empty() const { return pieces_.empty(); }
  Sample operator[](size_t i) const;
  int64_t length(int64_t i) const { return pieces_[static_cast<size_t>(i)].length; }
  int64_t targets(int64_t i) const { return pieces_[static_cast<size_t>(i)].targets; }
  const std::vector<Source>& sources() const { return sources_; }
  double weight(int64_t i) const { return sources_[pieces_[static_cast<size_t>(i)].source].weight; }

 private:
  friend struct SampleSet;
  std::vector<Source> sources_;
  std::vector<Piece> pieces_;
};

struct SampleSet {
  // Throws ConfigError when none is left, saying why, when the shape is out of range, and when the
  // options do not go together. `set` names the set in messages: "training set".
  SampleSet(std::vector<Source> sources, BatchShape batch_shape, const SetOptions& set_options,
            const std::string& set);
  SampleSet(const std::vector<Sample>& samples, BatchShape batch_shape, const std::string& set);

  int64_t size() const { return static_cast<int64_t>(samples.size()); }
  int32_t largest_id() const;  // or a larger one

  SampleList samples;
  BatchShape shape;
  SetOptions options;
  Counts counts;

 private:
  void add(uint32_t source, uint32_t first);
  int64_t cut(uint32_t source, uint32_t index);
  void refuse_empty(const std::string& set, int64_t examples) const;
};

}  // namespace hone::data
