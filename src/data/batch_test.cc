#include "data/batch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace hone::data {
namespace {

using RowsOf = std::vector<std::vector<uint32_t>>;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

// Ids first, first + 1, ...; the mask as written, "0110".
Sample sample(int32_t first, const std::string& mask) {
  Sample s;
  for (const char c : mask) {
    s.ids.push_back(first + static_cast<int32_t>(s.ids.size()));
    s.mask.push_back(c == '1' ? 1 : 0);
  }
  return s;
}

TEST(Batch, LaysOutTokensAndTargets) {
  const SampleSet set({sample(10, "0011"), sample(20, "01"), sample(30, "01010")},
                      {.batch = 2, .seq_len = 5}, "training set");
  EXPECT_EQ(set.counts.kept, 3);
  const Batch b = make_batch(set, RowsOf{{2}, {0}}, 6);
  EXPECT_THAT(b.tokens, ElementsAre(30, 31, 32, 33, 34, 10, 11, 12, 13, 0));
  EXPECT_THAT(b.positions, ElementsAre(0, 1, 2, 3, 4, 0, 1, 2, 3, 0));
  EXPECT_THAT(b.segments, ElementsAre(1, 1, 1, 1, 1, 1, 1, 1, 1, 0));
  EXPECT_THAT(b.rows, ElementsAre(0, 2, 6, 7, 0, 0));
  EXPECT_THAT(b.labels, ElementsAre(31, 33, 12, 13, 0, 0));
  EXPECT_THAT(b.weights, ElementsAre(1, 1, 1, 1, 0, 0));
  EXPECT_THAT(b.row_sample, ElementsAre(0, 0, 1, 1, 0, 0));
  EXPECT_EQ(b.samples, 2);
  EXPECT_EQ(b.real_tokens, 9);
  EXPECT_EQ(b.targets, 4);
}

// Segments and positions begin anew with each sample; no target reaches over a border.
TEST(Batch, LaysOutSeveralSamplesInARow) {
  const SampleSet set({sample(10, "011"), sample(20, "11"), sample(30, "0101")},
                      {.batch = 2, .seq_len = 6}, "training set");
  const Batch b = make_batch(set, RowsOf{{2, 1}, {0}}, 8);
  EXPECT_THAT(b.tokens, ElementsAre(30, 31, 32, 33, 20, 21, 10, 11, 12, 0, 0, 0));
  EXPECT_THAT(b.positions, ElementsAre(0, 1, 2, 3, 0, 1, 0, 1, 2, 0, 0, 0));
  EXPECT_THAT(b.segments, ElementsAre(1, 1, 1, 1, 2, 2, 1, 1, 1, 0, 0, 0));
  EXPECT_THAT(b.rows, ElementsAre(0, 2, 4, 6, 7, 0, 0, 0));
  EXPECT_THAT(b.labels, ElementsAre(31, 33, 21, 11, 12, 0, 0, 0));
  EXPECT_THAT(b.row_sample, ElementsAre(0, 0, 1, 2, 2, 0, 0, 0));
  EXPECT_EQ(b.samples, 3);
  EXPECT_EQ(b.targets, 5);
}

TEST(Batch, KeepsRowsWithoutASampleEmpty) {
  const SampleSet set({sample(10, "01")}, {.batch = 3, .seq_len = 2}, "set");
  const Batch b = make_batch(set, RowsOf{{0}}, 32);
  EXPECT_THAT(b.tokens, ElementsAre(10, 11, 0, 0, 0, 0));
  EXPECT_THAT(b.segments, ElementsAre(1, 1, 0, 0, 0, 0));
  EXPECT_EQ(b.rows.size(), 32u);
  EXPECT_EQ(b.targets, 1);
}

TEST(Batch, CountsWhatItDrops) {
  const SampleSet set({sample(0, "01111"), sample(0, "0111"), sample(0, "0000"), sample(0, "1000"),
                       sample(0, ""), sample(0, "000000")},
                      {.batch = 1, .seq_len = 4}, "training set");
  EXPECT_EQ(set.counts.kept, 1);       // exactly seq_len
  EXPECT_EQ(set.counts.too_long, 2);   // by one; and where it has no target either
  EXPECT_EQ(set.counts.no_target, 3);  // the first token is no target, and nothing is none
  ASSERT_EQ(set.samples.size(), 1u);
  EXPECT_EQ(set.samples[0].ids.size(), 4u);
}

TEST(Batch, TargetsOfAFullRowStopBeforeItsEnd) {
  const SampleSet set({sample(5, "1111")}, {.batch = 1, .seq_len = 4}, "set");
  const Batch b = make_batch(set, RowsOf{{0}}, 3);
  EXPECT_THAT(b.rows, ElementsAre(0, 1, 2));
  EXPECT_THAT(b.labels, ElementsAre(6, 7, 8));
}

TEST(Batch, RefusesSetsWithNothingToLearn) {
  const BatchShape shape{.batch = 2, .seq_len = 4};
  EXPECT_THAT([&] { SampleSet({}, shape, "training set"); },
              ThrowsMessage<ConfigError>("the training set is empty: it has no example"));
  EXPECT_THAT(
      [&] { SampleSet({sample(0, "0000"), sample(0, "10")}, shape, "training set"); },
      ThrowsMessage<ConfigError>(HasSubstr(
          "of 2 examples 0 are longer than seq_len 4 and 2 have no token of an assistant")));
  EXPECT_THAT([&] { SampleSet({sample(0, "01111")}, shape, "validation set"); },
              ThrowsMessage<ConfigError>(HasSubstr("the validation set has nothing to train on: of "
                                                   "1 examples 1 are longer than seq_len 4")));
}

TEST(Batch, RefusesShapesOutOfRange) {
  const auto with = [](int64_t batch, int64_t seq_len) {
    SampleSet({sample(0, "01")}, {.batch = batch, .seq_len = seq_len}, "set");
  };
  EXPECT_THAT([&] { with(0, 4); }, ThrowsMessage<ConfigError>("batch must be at least 1, not 0"));
  EXPECT_THAT([&] { with(1, 1); }, ThrowsMessage<ConfigError>("seq_len must be at least 2, not 1"));
  struct Large {
    int64_t batch, seq_len;
  };
  for (const Large& large :
       {Large{int64_t{1} << 20, 2048}, Large{int64_t{1} << 62, 4}, Large{2, int64_t{1} << 62}})
    EXPECT_THAT([&] { with(large.batch, large.seq_len); },
                ThrowsMessage<ConfigError>(HasSubstr("too large")));
}

TEST(Batch, RoundsTargetsUp) {
  EXPECT_EQ(round_targets(1), 32);
  EXPECT_EQ(round_targets(32), 32);
  EXPECT_EQ(round_targets(33), 64);
}

TEST(Batch, OnceCoversEverySampleOnce) {
  std::vector<Sample> samples;
  for (int32_t i = 0; i < 7; ++i)
    samples.push_back(sample(100 * i, std::string(11 + static_cast<size_t>(i), '1')));
  const SampleSet set(samples, {.batch = 3, .seq_len = 32}, "validation set");
  const std::vector<Batch> batches = batches_once(set);
  ASSERT_EQ(batches.size(), 3u);
  int64_t targets = 0, real = 0;
  for (const Batch& b : batches) {
    EXPECT_EQ(b.rows.size(), 64u);  // the second batch has 13 + 14 + 15 targets
    targets += b.targets;
    real += b.real_tokens;
  }
  EXPECT_EQ(targets, 10 + 11 + 12 + 13 + 14 + 15 + 16);
  EXPECT_EQ(real, targets + 7);
  EXPECT_EQ(batches[2].targets, 16);  // one sample, two rows of padding
  EXPECT_EQ(batches[2].tokens[0], 600);
}

}  // namespace
}  // namespace hone::data
