#include "data/sample_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <set>

#include "base/error.h"
#include "data/summary.h"

namespace hone::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

// Ids first, first + 1, ...; the mask as written.
Sample sample(int32_t first, const std::string& mask) {
  Sample s;
  for (const char c : mask) {
    s.ids.push_back(first + static_cast<int32_t>(s.ids.size()));
    s.mask.push_back(c == '1' ? 1 : 0);
  }
  return s;
}

std::filesystem::path temporary(const std::string& name) {
  return std::filesystem::path(testing::TempDir()) /
         ("hone_sets_" + std::to_string(getpid()) + name);
}

SampleSet of(const std::vector<Sample>& samples, const SetOptions& options, int64_t seq_len) {
  return SampleSet({Source{TokenStore::of(samples)}}, {.batch = 2, .seq_len = seq_len}, options,
                   "training set");
}

TEST(SampleSet, CutsWhatIsTooLong) {
  const std::vector<Sample> samples{sample(0, "0111"), sample(10, "0110110"), sample(20, "000001")};
  const SampleSet dropped = of(samples, {}, 4);
  EXPECT_EQ(dropped.size(), 1);
  EXPECT_EQ(dropped.counts.too_long, 2);

  const SampleSet truncated = of(samples, {.too_long = TooLong::kTruncate}, 4);
  ASSERT_EQ(truncated.size(), 2);
  EXPECT_EQ(truncated.samples[1], sample(10, "0110"));
  EXPECT_EQ(truncated.counts.truncated, 1);
  EXPECT_EQ(truncated.counts.no_target, 1);  // its target was behind the cut

  // Each piece begins with the last token of the one before: all targets stay, once.
  const SampleSet split = of(samples, {.too_long = TooLong::kSplit}, 4);
  ASSERT_EQ(split.size(), 4);
  EXPECT_EQ(split.samples[1], sample(10, "0110"));
  EXPECT_EQ(split.samples[2], sample(13, "0110"));
  EXPECT_EQ(split.samples[3], sample(23, "001"));
  EXPECT_EQ(split.counts.split, 2);
  EXPECT_EQ(split.counts.targets, 3 + 4 + 1);
  EXPECT_EQ(summary(split), "3 examples, 15 tokens, 8 learnt; split 2 longer than seq_len 4");
}

TEST(SampleSet, DropsPairsAsAWhole) {
  const std::vector<Sample> samples{sample(0, "011"),  sample(10, "01111"), sample(20, "01"),
                                    sample(30, "011"), sample(40, "01"),    sample(50, "00")};
  const SampleSet set = of(samples, {.pairs = true}, 4);
  EXPECT_EQ(set.size(), 2);
  EXPECT_EQ(set.samples[0].ids[0], 20);
  EXPECT_EQ(set.counts.kept, 1);
  EXPECT_EQ(set.counts.too_long, 1);
  EXPECT_EQ(set.counts.no_target, 1);
  const SampleSet cut = of(samples, {.too_long = TooLong::kTruncate, .pairs = true}, 4);
  EXPECT_EQ(cut.counts.kept, 2);
  EXPECT_EQ(cut.counts.truncated, 1);
}

TEST(SampleSet, RefusesOptionsThatDoNotGoTogether) {
  const std::vector<Sample> samples{sample(0, "01"), sample(0, "01")};
  const auto with = [&](const SetOptions& options, int64_t batch) {
    return [&samples, options, batch] {
      SampleSet({Source{TokenStore::of(samples)}}, {.batch = batch, .seq_len = 4}, options, "set");
    };
  };
  EXPECT_THAT(with({.packing = true, .pairs = true}, 2),
              ThrowsMessage<ConfigError>(HasSubstr("cannot be packed")));
  EXPECT_THAT(with({.too_long = TooLong::kSplit, .pairs = true}, 2),
              ThrowsMessage<ConfigError>(HasSubstr("cannot be split")));
  EXPECT_THAT(with({.pairs = true}, 3),
              ThrowsMessage<ConfigError>(HasSubstr("use an even number")));
}

// A store of n samples, each with its own content hash; the same n twice.
std::shared_ptr<const TokenStore> stored(int n) {
  const auto file = temporary("split.tokens");
  TokenStoreWriter writer(file);
  for (int copy = 0; copy < 2; ++copy)
    for (int i = 0; i < n; ++i)
      writer.add(sample(i, "011"), i % 2 == 0, static_cast<uint64_t>(i + 1) * 0x9e3779b97f4a7c15);
  writer.commit({{"unused", {{"id", 2 * n}}}});
  return TokenStore::open(file);
}

TEST(SampleSet, SplitsByContent) {
  const auto store = stored(2000);
  SetOptions options{.eval_share = 0.05};
  const SampleSet train({{store}}, {.batch = 1, .seq_len = 4}, options, "training set");
  options.eval = true;
  const SampleSet eval({{store}}, {.batch = 1, .seq_len = 4}, options, "validation set");
  EXPECT_EQ(train.size() + eval.size(), 4000);
  EXPECT_NEAR(static_cast<double>(eval.size()), 200, 20);
  std::set<int32_t> in_train, in_eval, both;
  for (size_t i = 0; i < train.samples.size(); ++i) in_train.insert(train.samples[i].ids[0]);
  for (size_t i = 0; i < eval.samples.size(); ++i) in_eval.insert(eval.samples[i].ids[0]);
  std::ranges::set_intersection(in_train, in_eval, std::inserter(both, both.end()));
  EXPECT_TRUE(both.empty());
  EXPECT_THAT(
      [&] {
        SampleSet({{stored(3)}}, {.batch = 1, .seq_len = 4}, {.eval_share = 1e-9, .eval = true},
                  "validation set");
      },
      ThrowsMessage<ConfigError>(HasSubstr("puts no example there")));
  EXPECT_THAT(warnings(train), ElementsAre(HasSubstr("% of the samples teach the end of a turn"),
                                           "columns that are not read: id (4000 rows)"));
}

TEST(TokenStore, ComesBackFromDisk) {
  const auto file = temporary("store.tokens");
  const std::vector<Sample> samples{sample(5, "0110"), sample(0, ""), sample(2147483640, "1011")};
  TokenStoreWriter writer(file);
  for (const Sample& s : samples) writer.add(s, s.ids.size() == 4, 7);
  writer.commit({{"rows", 3}});
  const auto store = TokenStore::open(file);
  ASSERT_EQ(store->size(), 3);
  for (int64_t i = 0; i < 3; ++i) {
    const Sample& s = samples[static_cast<size_t>(i)];
    EXPECT_EQ(store->length(i), std::ssize(s.ids));
    EXPECT_EQ(store->targets(i), target_count(s));
    EXPECT_EQ(store->ends(i), s.ids.size() == 4);
    EXPECT_EQ(store->sample(i, 0, store->length(i)), s);
  }
  EXPECT_EQ(store->largest_id(), 2147483643);
  EXPECT_EQ(store->notes()["rows"], 3);
}

TEST(TokenStore, EveryCutAndFlippedFootIsRefused) {
  const auto file = temporary("broken.tokens");
  TokenStoreWriter writer(file);
  for (int i = 0; i < 5; ++i) writer.add(sample(i, "0110"), true, 7);
  writer.commit({{"rows", 5}});
  std::ifstream in(file, std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(in), {}};
  const auto refused = [&](const std::string& bytes) {
    std::ofstream(file, std::ios::binary) << bytes;
    try {
      TokenStore::open(file);
    } catch (const Error&) {
      return true;
    }
    return false;
  };
  int cases = 0;
  for (size_t n = 0; n < whole.size(); ++n, ++cases) EXPECT_TRUE(refused(whole.substr(0, n))) << n;
  for (size_t n = whole.size() - 40; n < whole.size(); ++n, ++cases) {
    if (n >= whole.size() - 16 && n < whole.size() - 8) continue;  // the largest id
    std::string bytes = whole;
    bytes[n] = static_cast<char>(bytes[n] ^ 0x41);
    EXPECT_TRUE(refused(bytes)) << n;
  }
  std::printf("%d broken stores\n", cases);
  EXPECT_GE(cases, 200);
}

}  // namespace
}  // namespace hone::data
