#include "data/sample_set.h"

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "base/error.h"

namespace hone::data {
namespace {

void check_shape(const BatchShape& shape) {
  if (shape.batch < 1) throw ConfigError("batch must be at least 1, not {}", shape.batch);
  if (shape.seq_len < 2) throw ConfigError("seq_len must be at least 2, not {}", shape.seq_len);
  if (shape.batch > std::numeric_limits<int32_t>::max() / shape.seq_len)
    throw ConfigError("a batch of {} x {} tokens is too large: its positions must fit 31 bits",
                      shape.batch, shape.seq_len);
}

void check_options(const SetOptions& o, const BatchShape& shape) {
  if (!o.pairs) return;
  if (o.packing)
    throw ConfigError("pairs of a preference cannot be packed; use data.packing=false");
  if (o.too_long == TooLong::kSplit)
    throw ConfigError("pairs of a preference cannot be split; use data.too_long=drop or truncate");
  if (shape.batch % 2 != 0)
    throw ConfigError(
        "batch.micro is {}, but a pair of a preference fills two sequences; use an even number",
        shape.batch);
}

bool falls_to_eval(uint64_t hash, double share) {
  return static_cast<double>(hash >> 11) * 0x1p-53 < share;
}

}  // namespace

Sample SampleList::operator[](size_t i) const {
  const Piece& p = pieces_.at(i);
  return sources_[p.source].store->sample(p.index, p.begin, p.length);
}

SampleSet::SampleSet(std::vector<Source> sources, BatchShape batch_shape,
                     const SetOptions& set_options, const std::string& set)
    : shape(batch_shape), options(set_options) {
  check_shape(shape);
  check_options(options, shape);
  samples.sources_ = std::move(sources);
  int64_t examples = 0;
  const uint32_t step = options.pairs ? 2 : 1;
  for (uint32_t s = 0; s < samples.sources_.size(); ++s) {
    const TokenStore& store = *samples.sources_[s].store;
    if (store.size() > std::numeric_limits<int32_t>::max())
      throw ConfigError("the {} has {} examples in one entry; split it", set, store.size());
    check(store.size() % step == 0, "half a pair");
    for (uint32_t i = 0; i < store.size(); i += step) {
      const bool to_eval = falls_to_eval(store.hash(i), options.eval_share);
      if (options.eval_share > 0 && to_eval != options.eval) continue;
      ++examples;
      add(s, i);
    }
  }
  if (samples.empty()) refuse_empty(set, examples);
  for (const Piece& p : samples.pieces_) {
    counts.tokens += p.length;
    counts.targets += p.targets;
    const TokenStore& store = *samples.sources_[p.source].store;
    const bool last = p.begin + p.length == store.length(p.index);
    counts.ends += last && store.ends(p.index) ? 1 : 0;
  }
}

SampleSet::SampleSet(const std::vector<Sample>& all, BatchShape batch_shape, const std::string& set)
    : SampleSet({Source{TokenStore::of(all)}}, batch_shape, {}, set) {}

// One example: the sample `first`, or it and the next.
void SampleSet::add(uint32_t source, uint32_t first) {
  const uint32_t end = first + (options.pairs ? 2 : 1);
  const TokenStore& store = *samples.sources_[source].store;
  const size_t before = samples.pieces_.size();
  bool too_long = false, no_target = false;
  for (uint32_t i = first; i < end; ++i) {
    too_long |= store.length(i) > shape.seq_len;
    if (too_long && options.too_long == TooLong::kDrop) break;
    no_target |= cut(source, i) == 0;
  }
  const bool dropped = too_long && options.too_long == TooLong::kDrop;
  if (dropped || no_target) samples.pieces_.resize(before);
  counts.too_long += dropped ? 1 : 0;
  counts.no_target += !dropped && no_target ? 1 : 0;
  if (dropped || no_target) return;
  ++counts.kept;
  counts.truncated += too_long && options.too_long == TooLong::kTruncate ? 1 : 0;
  counts.split += too_long && options.too_long == TooLong::kSplit ? 1 : 0;
}

// Adds the pieces of a sample that have a target; gives their number.
int64_t SampleSet::cut(uint32_t source, uint32_t index) {
  const TokenStore& store = *samples.sources_[source].store;
  const int64_t length = store.length(index), most = shape.seq_len;
  int64_t added = 0, begin = 0;
  do {
    const int64_t piece = std::min(most, length - begin);
    const bool whole = piece == length, last = begin + piece == length;
    const int64_t targets = whole ? store.targets(index) : store.targets(index, begin, piece);
    if (targets > 0) {
      samples.pieces_.push_back({source, index, static_cast<uint32_t>(begin),
                                 static_cast<uint32_t>(piece), static_cast<uint32_t>(targets)});
      ++added;
    }
    begin += piece - 1;  // the last token is the next piece's first, for what it predicts
    if (last || options.too_long != TooLong::kSplit) break;
  } while (begin < length);
  return added;
}

int32_t SampleSet::largest_id() const {
  int32_t largest = 0;
  for (const Source& s : samples.sources_) largest = std::max(largest, s.store->largest_id());
  return largest;
}

void SampleSet::refuse_empty(const std::string& set, int64_t examples) const {
  if (examples == 0 && options.eval_share > 0)
    throw ConfigError(
        "the {} is empty: a share of {} puts no example there; change data.eval_share", set,
        options.eval_share);
  if (examples == 0) throw ConfigError("the {} is empty: it has no example", set);
  throw ConfigError(
      "the {} has nothing to train on: of {} examples {} are longer than seq_len {} and {} have "
      "no token of an assistant; raise seq_len or add examples with an assistant's answer",
      set, examples, counts.too_long, shape.seq_len, counts.no_target);
}

}  // namespace hone::data
