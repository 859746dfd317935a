#include "data/batch.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>

#include "base/check.h"
#include "base/error.h"

namespace hone::data {
namespace {

constexpr int64_t kTargetStep = 32;

void check_shape(const BatchShape& shape) {
  if (shape.batch < 1) throw ConfigError("batch must be at least 1, not {}", shape.batch);
  if (shape.seq_len < 2) throw ConfigError("seq_len must be at least 2, not {}", shape.seq_len);
  if (shape.batch > std::numeric_limits<int32_t>::max() / shape.seq_len)
    throw ConfigError("a batch of {} x {} tokens is too large: its positions must fit 31 bits",
                      shape.batch, shape.seq_len);
}

// Appends the positions of a sample, in row b, that have a target.
void add_targets(Batch& batch, const Sample& sample, int64_t first) {
  for (size_t s = 0; s + 1 < sample.ids.size(); ++s) {
    if (sample.mask[s + 1] == 0) continue;
    batch.rows.push_back(static_cast<int32_t>(first + static_cast<int64_t>(s)));
    batch.labels.push_back(sample.ids[s + 1]);
    batch.weights.push_back(1);
  }
}

}  // namespace

int64_t target_count(const Sample& sample) {
  if (sample.mask.empty()) return 0;
  return std::count_if(sample.mask.begin() + 1, sample.mask.end(),
                       [](uint8_t m) { return m != 0; });
}

int64_t round_targets(int64_t targets) {
  return (targets + kTargetStep - 1) / kTargetStep * kTargetStep;
}

SampleSet::SampleSet(std::vector<Sample> all, BatchShape batch_shape, const std::string& set)
    : samples(std::move(all)), shape(batch_shape) {
  check_shape(shape);
  if (samples.empty()) throw ConfigError("the {} is empty: it has no example", set);
  std::erase_if(samples, [&](const Sample& sample) {
    check(sample.ids.size() == sample.mask.size(), "{} ids but {} mask entries", sample.ids.size(),
          sample.mask.size());
    const bool too_long = std::ssize(sample.ids) > shape.seq_len;
    const bool no_target = !too_long && target_count(sample) == 0;
    counts.too_long += too_long ? 1 : 0;
    counts.no_target += no_target ? 1 : 0;
    return too_long || no_target;
  });
  counts.kept = std::ssize(samples);
  if (samples.empty())
    throw ConfigError(
        "the {} has nothing to train on: of {} examples {} are longer than seq_len {} and {} have "
        "no token of an assistant; raise seq_len or add examples with an assistant's answer",
        set, counts.too_long + counts.no_target, counts.too_long, shape.seq_len, counts.no_target);
}

Batch make_batch(const SampleSet& set, std::span<const int64_t> numbers, int64_t targets_padded) {
  const int64_t seq_len = set.shape.seq_len;
  check(std::ssize(numbers) <= set.shape.batch, "{} samples in a batch of {}", numbers.size(),
        set.shape.batch);
  Batch batch;
  const auto cells = static_cast<size_t>(set.shape.batch * seq_len);
  for (auto* plane : {&batch.tokens, &batch.positions, &batch.segments}) plane->assign(cells, 0);

  int64_t first = 0;  // of the row
  for (const int64_t number : numbers) {
    const Sample& sample = set.samples.at(static_cast<size_t>(number));
    const auto length = std::ssize(sample.ids);
    std::ranges::copy(sample.ids, batch.tokens.begin() + first);
    std::iota(batch.positions.begin() + first, batch.positions.begin() + first + length, 0);
    std::fill_n(batch.segments.begin() + first, length, 1);
    add_targets(batch, sample, first);
    batch.real_tokens += length;
    first += seq_len;
  }
  batch.targets = std::ssize(batch.rows);
  check(batch.targets <= targets_padded, "{} targets in a batch for {}", batch.targets,
        targets_padded);
  const auto padded = static_cast<size_t>(targets_padded);
  batch.rows.resize(padded, 0);
  batch.labels.resize(padded, 0);
  batch.weights.resize(padded, 0);
  return batch;
}

std::vector<Batch> batches_once(const SampleSet& set) {
  std::vector<std::vector<int64_t>> groups;
  int64_t most = 0, targets = 0;
  for (int64_t i = 0; i < std::ssize(set.samples); ++i) {
    if (i % set.shape.batch == 0) {
      groups.emplace_back();
      targets = 0;
    }
    groups.back().push_back(i);
    most = std::max(most, targets += target_count(set.samples[static_cast<size_t>(i)]));
  }
  std::vector<Batch> batches;
  for (const auto& group : groups) batches.push_back(make_batch(set, group, round_targets(most)));
  return batches;
}

}  // namespace hone::data
