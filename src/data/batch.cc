#include "data/batch.h"

#include <algorithm>
#include <numeric>

#include "base/check.h"

namespace hone::data {
namespace {

constexpr int64_t kTargetStep = 32;

// Puts a sample at entry `first`, as this segment of its row.
void put(Batch& batch, const Sample& sample, int64_t first, int32_t segment) {
  const auto length = std::ssize(sample.ids);
  std::ranges::copy(sample.ids, batch.tokens.begin() + first);
  std::iota(batch.positions.begin() + first, batch.positions.begin() + first + length, 0);
  std::fill_n(batch.segments.begin() + first, length, segment);
  for (size_t s = 0; s + 1 < sample.ids.size(); ++s) {
    if (sample.mask[s + 1] == 0) continue;
    batch.rows.push_back(static_cast<int32_t>(first + static_cast<int64_t>(s)));
    batch.labels.push_back(sample.ids[s + 1]);
    batch.weights.push_back(1);
    batch.row_sample.push_back(static_cast<int32_t>(batch.samples));
  }
  ++batch.samples;
  batch.real_tokens += length;
}

}  // namespace

int64_t round_targets(int64_t targets) {
  return (targets + kTargetStep - 1) / kTargetStep * kTargetStep;
}

Batch make_batch(const SampleSet& set, std::span<const std::vector<uint32_t>> rows,
                 int64_t targets_padded) {
  check(std::ssize(rows) <= set.shape.batch, "{} rows in a batch of {}", rows.size(),
        set.shape.batch);
  Batch batch;
  const auto cells = static_cast<size_t>(set.shape.batch * set.shape.seq_len);
  for (auto* plane : {&batch.tokens, &batch.positions, &batch.segments}) plane->assign(cells, 0);

  for (size_t b = 0; b < rows.size(); ++b) {
    const int64_t end = (static_cast<int64_t>(b) + 1) * set.shape.seq_len;
    int64_t at = end - set.shape.seq_len;
    int32_t segment = 0;
    for (const uint32_t number : rows[b]) {
      const Sample sample = set.samples[number];
      check(at + std::ssize(sample.ids) <= end, "the samples of a row have no room");
      put(batch, sample, at, ++segment);
      at += std::ssize(sample.ids);
    }
  }
  batch.targets = std::ssize(batch.rows);
  check(batch.targets <= targets_padded, "{} targets in a batch for {}", batch.targets,
        targets_padded);
  const auto padded = static_cast<size_t>(targets_padded);
  for (auto* list : {&batch.rows, &batch.labels, &batch.row_sample}) list->resize(padded, 0);
  batch.weights.resize(padded, 0);
  return batch;
}

std::vector<Batch> batches_once(const SampleSet& set) {
  const Rows rows = rows_once(set);
  std::vector<std::vector<std::vector<uint32_t>>> groups;
  int64_t most = 0, targets = 0;
  for (int64_t r = 0; r < rows.size(); ++r) {
    if (r % set.shape.batch == 0) {
      groups.emplace_back();
      targets = 0;
    }
    groups.back().emplace_back(rows[r].begin(), rows[r].end());
    for (const uint32_t i : rows[r]) targets += set.samples.targets(i);
    most = std::max(most, targets);
  }
  std::vector<Batch> batches;
  for (const auto& group : groups) batches.push_back(make_batch(set, group, round_targets(most)));
  return batches;
}

}  // namespace hone::data
