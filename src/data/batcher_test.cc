#include "data/batcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <string>

#include "base/error.h"
#include "data/loader.h"

namespace hone::data {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

// `count` samples of two tokens; sample i begins with token i and has one target.
SampleSet pairs(int32_t count, int64_t batch) {
  std::vector<Sample> samples;
  for (int32_t i = 0; i < count; ++i) samples.push_back({{i, 1000}, {0, 1}});
  return SampleSet(std::move(samples), {.batch = batch, .seq_len = 2}, "training set");
}

std::vector<int32_t> first_tokens(const Batch& batch) {
  std::vector<int32_t> tokens;
  for (size_t i = 0; i < batch.tokens.size(); i += 2) tokens.push_back(batch.tokens[i]);
  return tokens;
}

std::vector<int32_t> stream(Batcher& batcher, int64_t batches) {
  std::vector<int32_t> all;
  for (int64_t i = 0; i < batches; ++i)
    for (const int32_t token : first_tokens(batcher.next())) all.push_back(token);
  return all;
}

TEST(Batcher, EveryEpochTakesEverySampleOnce) {
  const SampleSet set = pairs(10, 4);  // 10 is no multiple of 4: batches cross epochs
  Batcher batcher(set, 1, 15);
  const std::vector<int32_t> tokens = stream(batcher, 15);
  ASSERT_EQ(tokens.size(), 60u);
  std::vector<std::vector<int32_t>> epochs;
  for (size_t e = 0; e < 6; ++e) {
    epochs.emplace_back(tokens.begin() + static_cast<int64_t>(e) * 10,
                        tokens.begin() + static_cast<int64_t>(e + 1) * 10);
    std::vector<int32_t> sorted = epochs.back(), all(10);
    std::ranges::sort(sorted);
    std::iota(all.begin(), all.end(), 0);
    EXPECT_EQ(sorted, all) << "epoch " << e;
    EXPECT_TRUE(e == 0 || epochs[e] != epochs[e - 1]) << "epoch " << e << " is not shuffled anew";
  }
  EXPECT_EQ(batcher.cursor(), (Cursor{.epoch = 5, .index = 10}));
}

TEST(Batcher, FollowsFromItsSeed) {
  const SampleSet set = pairs(20, 4);
  Batcher a(set, 1, 10), b(set, 1, 10), c(set, 2, 10);
  const std::vector<int32_t> tokens = stream(a, 10);
  EXPECT_EQ(tokens, stream(b, 10));
  EXPECT_NE(tokens, stream(c, 10));
}

TEST(Batcher, ABatchLargerThanTheSetTakesSeveralEpochs) {
  const SampleSet set = pairs(3, 8);
  Batcher batcher(set, 1, 3);
  std::map<int32_t, int> times;
  for (const int32_t token : stream(batcher, 3)) ++times[token];
  EXPECT_EQ(times, (std::map<int32_t, int>{{0, 8}, {1, 8}, {2, 8}}));
  EXPECT_EQ(batcher.cursor(), (Cursor{.epoch = 7, .index = 3}));
}

TEST(Batcher, ResumesAtEveryCursor) {
  const SampleSet set = pairs(7, 3);
  Batcher whole(set, 5, 12);
  std::vector<Cursor> cursors;
  std::vector<std::vector<int32_t>> batches;
  for (int i = 0; i < 12; ++i) {
    cursors.push_back(whole.cursor());
    batches.push_back(first_tokens(whole.next()));
  }
  for (size_t i = 0; i < cursors.size(); ++i) {
    Batcher resumed(set, 5, 12);
    resumed.seek(cursors[i]);
    for (size_t j = i; j < batches.size(); ++j)
      EXPECT_EQ(first_tokens(resumed.next()), batches[j]) << "from " << i << ", batch " << j;
  }
}

TEST(Batcher, TargetsAreTheLargestOfTheRun) {
  std::vector<Sample> samples;
  for (size_t i = 1; i <= 30; ++i)
    samples.push_back({std::vector<int32_t>(i + 1, 1), std::vector<uint8_t>(i + 1, 1)});
  const SampleSet set(samples, {.batch = 5, .seq_len = 31}, "training set");
  Batcher batcher(set, 3, 40);
  int64_t most = 0;
  for (int i = 0; i < 40; ++i) {
    const Batch batch = batcher.next();
    EXPECT_EQ(std::ssize(batch.rows), batcher.targets_padded());
    EXPECT_EQ(std::ssize(batch.labels), batcher.targets_padded());
    EXPECT_EQ(std::accumulate(batch.weights.begin(), batch.weights.end(), 0.0f),
              static_cast<float>(batch.targets));
    most = std::max(most, batch.targets);
  }
  EXPECT_EQ(batcher.targets_padded(), round_targets(most));
  EXPECT_LE(most, 30 + 29 + 28 + 27 + 26);
}

// 200 samples of 2 to 40 tokens; sample i begins with token i. Packed into rows of 64, or pairs.
SampleSet varied(const SetOptions& options, int64_t batch) {
  std::vector<Sample> samples;
  for (int32_t i = 0; i < 200; ++i) {
    const auto length = static_cast<size_t>(2 + i * 7 % 39);
    Sample& s = samples.emplace_back();
    s.ids.assign(length, 1000);
    s.ids[0] = i;
    s.mask.assign(length, 1);
  }
  return SampleSet({Source{TokenStore::of(samples)}}, {.batch = batch, .seq_len = 64}, options,
                   "training set");
}

std::vector<int32_t> starts(const Batch& b) {  // the samples of a batch
  std::vector<int32_t> all;
  for (size_t i = 0; i < b.tokens.size(); ++i)
    if (b.segments[i] != 0 && b.positions[i] == 0) all.push_back(b.tokens[i]);
  return all;
}

TEST(Batcher, APackedEpochHoldsEverySampleOnce) {
  const SampleSet set = varied({.packing = true}, 1);
  for (int64_t epoch = 0; epoch < 3; ++epoch) {
    const Rows rows = epoch_rows(set, 7, epoch);
    std::vector<int32_t> seen(200, 0);
    for (int64_t r = 0; r < rows.size(); ++r) {
      int64_t length = 0;
      for (const uint32_t i : rows[r]) {
        ++seen[i];
        length += set.samples.length(i);
      }
      EXPECT_LE(length, 64);
    }
    EXPECT_THAT(seen, testing::Each(1)) << epoch;
    EXPECT_LT(rows.size(), 80);  // 200 samples of 21 tokens: 66 rows at the least
  }
}

TEST(Batcher, PairsStayTogether) {
  const SampleSet set = varied({.pairs = true}, 4);
  Batcher batcher(set, 3, 50);
  for (int i = 0; i < 50; ++i) {
    const std::vector<int32_t> samples = starts(batcher.next());
    ASSERT_EQ(samples.size(), 4u);
    for (size_t k = 0; k < 4; k += 2) {
      EXPECT_EQ(samples[k] % 2, 0);
      EXPECT_EQ(samples[k + 1], samples[k] + 1);
    }
  }
}

// A sample of weight w is taken E x w times in E epochs, rounded; the epochs are equally long.
TEST(Batcher, WeightsAreExactOverEpochs) {
  const std::vector<Sample> samples(100, Sample{{1, 2}, {0, 1}});
  const auto store = TokenStore::of(samples);
  const SampleSet set({{store, 1}, {store, 2.5}, {store, 0.3}}, {.batch = 1, .seq_len = 2}, {},
                      "training set");
  std::vector<int> taken(300, 0);
  for (int64_t epoch = 0; epoch < 10; ++epoch) {
    const Rows rows = epoch_rows(set, 1, epoch);
    EXPECT_NEAR(static_cast<double>(rows.size()), 380, 2);
    for (int64_t r = 0; r < rows.size(); ++r) ++taken[rows[r][0]];
  }
  for (size_t i = 0; i < 300; ++i) EXPECT_EQ(taken[i], i < 100 ? 10 : i < 200 ? 25 : 3) << i;
  EXPECT_NEAR(rows_an_epoch(set, 1), 380, 1e-6);
}

// The order does not depend on how long the run is, or on who works ahead.
TEST(Loader, GivesTheBatchesOfABatcherFromEveryCursor) {
  int cases = 0;
  for (const SetOptions& options :
       {SetOptions{}, SetOptions{.packing = true}, SetOptions{.pairs = true}}) {
    const SampleSet set = varied(options, 4);
    Batcher batcher(set, 11, 30);
    Loader whole(set, 11, 60);
    std::vector<std::vector<int32_t>> batches;
    std::vector<Cursor> cursors;
    for (int i = 0; i < 30; ++i) {
      cursors.push_back(whole.cursor());
      EXPECT_EQ(cursors.back(), batcher.cursor());
      batches.push_back(whole.next().tokens);
      EXPECT_EQ(batches.back(), batcher.next().tokens);
    }
    for (size_t i = 0; i < 30; i += 7) {
      Loader resumed(set, 11, 30, 3);
      resumed.seek(cursor_of(to_json(cursors[i])));
      for (size_t j = i; j < 30; ++j, ++cases) EXPECT_EQ(resumed.next().tokens, batches[j]);
    }
  }
  std::printf("%d resumed batches\n", cases);
  EXPECT_EQ(cases, 240);
}

TEST(Loader, ThrowsWhatTheBatcherThrows) {
  const SampleSet set = varied({}, 4);
  Loader loader(set, 1, 1);
  const auto all = [&] {
    for (int i = 0; i < 1000; ++i) loader.next();
  };
  EXPECT_THAT(all, ThrowsMessage<Error>(HasSubstr("planned for fewer batches")));
  EXPECT_THAT(all, ThrowsMessage<Error>(HasSubstr("planned for fewer batches")));
}

TEST(Cursor, RefusesOtherJson) {
  for (const char* text : {"1", "{}", R"({"epoch": 1})", R"({"epoch": 1, "index": "2"})"})
    EXPECT_THROW(cursor_of(nlohmann::ordered_json::parse(text)), ConfigError) << text;
}

TEST(Batcher, RefusesACursorOfOtherData) {
  const SampleSet set = pairs(3, 2);
  Batcher batcher(set, 1, 2);
  for (const Cursor& cursor : {Cursor{0, 4}, Cursor{-1, 0}, Cursor{0, -1}})
    EXPECT_THAT([&] { batcher.seek(cursor); },
                ThrowsMessage<ConfigError>(HasSubstr("the training set has 3 examples")));
  batcher.seek({0, 3});  // the end of an epoch is a place
}

}  // namespace
}  // namespace hone::data
