#include "data/batcher.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace hone::data {

nlohmann::ordered_json to_json(const Cursor& cursor) {
  return {{"epoch", cursor.epoch}, {"index", cursor.index}};
}

Cursor cursor_of(const nlohmann::ordered_json& json) {
  const auto number = [&](const char* key) {
    const bool there = json.is_object() && json.contains(key) && json[key].is_number_integer();
    if (!there) throw ConfigError("the data cursor has no \"{}\"", key);
    return json[key].get<int64_t>();
  };
  return {number("epoch"), number("index")};
}

Batcher::Batcher(const SampleSet& set, uint64_t seed, int64_t batches) : set_(set), seed_(seed) {
  int64_t most = 0;
  for (int64_t i = 0; i < batches; ++i) most = std::max(most, targets_of(take()));
  targets_padded_ = round_targets(most);
  cursor_ = {};
}

void Batcher::plan(int64_t epoch) {
  if (planned_ == epoch) return;
  planned_ = epoch;
  rows_ = epoch_rows(set_, seed_, epoch);
}

Batcher::Taken Batcher::take() {
  Taken rows;
  while (std::ssize(rows) < set_.shape.batch) {
    plan(cursor_.epoch);
    if (cursor_.index == rows_.size()) {
      cursor_ = {cursor_.epoch + 1, 0};
      continue;
    }
    const auto row = rows_[cursor_.index++];
    rows.emplace_back(row.begin(), row.end());
  }
  return rows;
}

int64_t Batcher::targets_of(const Taken& rows) const {
  int64_t targets = 0;
  for (const auto& row : rows)
    for (const uint32_t sample : row) targets += set_.samples.targets(sample);
  return targets;
}

Batch Batcher::next() {
  const Taken rows = take();
  if (targets_of(rows) > targets_padded_)
    throw Error("the run was planned for fewer batches: one has {} targets, its largest {}",
                targets_of(rows), targets_padded_);
  return make_batch(set_, rows, targets_padded_);
}

void Batcher::seek(const Cursor& cursor) {
  const bool possible = cursor.epoch >= 0 && cursor.index >= 0;
  if (possible) plan(cursor.epoch);
  if (!possible || cursor.index > rows_.size())
    throw ConfigError(
        "cannot resume at epoch {}, sequence {}: the training set has {} examples; resume with the "
        "data the run began with",
        cursor.epoch, cursor.index, set_.size());
  cursor_ = cursor;
}

}  // namespace hone::data
