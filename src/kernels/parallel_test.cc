#include "kernels/parallel.h"

#include <gmock/gmock.h>

#include <functional>
#include <thread>
#include <utility>
#include <vector>

namespace hone::kernels {
namespace {

using testing::Each;

// Keeps its tasks; they start when a test says so, or never.
struct Pool {
  int64_t threads = 4;
  std::vector<std::function<void()>> tasks;

  int64_t num_threads() const { return threads; }
  void Schedule(std::function<void()> task) { tasks.push_back(std::move(task)); }
};

// How often each of `count` elements was done.
std::vector<int> run(Pool& pool, int64_t count, int64_t block) {
  std::vector<int> done(static_cast<size_t>(count));
  parallel_for(pool, count, block, [&](int64_t begin, int64_t end) {
    EXPECT_LE(end - begin, block);
    for (int64_t i = begin; i < end; ++i) ++done[static_cast<size_t>(i)];
  });
  return done;
}

TEST(ParallelFor, DoesEverythingItselfWhereNoThreadIsFree) {
  int cases = 0;
  for (const int64_t count : {0, 1, 2, 7, 8, 9, 100}) {
    for (const int64_t block : {1, 3, 8, 200}) {
      Pool busy;
      EXPECT_THAT(run(busy, count, block), Each(1)) << count << " in blocks of " << block;
      ++cases;
    }
  }
  EXPECT_EQ(cases, 28);
}

TEST(ParallelFor, AsksForNoMoreThreadsThanItHasBlocks) {
  Pool pool;
  run(pool, 9, 3);
  EXPECT_EQ(pool.tasks.size(), 2U);
  pool = {.threads = 2, .tasks = {}};
  run(pool, 9, 1);
  EXPECT_EQ(pool.tasks.size(), 1U);
}

TEST(ParallelFor, TasksThatStartTooLateDoNothing) {
  Pool pool;
  const std::vector<int> done = run(pool, 100, 1);
  for (const auto& task : pool.tasks) task();
  EXPECT_THAT(done, Each(1));
}

// Each task is a thread of its own.
struct Threads {
  std::vector<std::jthread> running;
  int64_t num_threads() const { return 4; }
  void Schedule(std::function<void()> task) { running.emplace_back(std::move(task)); }
};

TEST(ParallelFor, SharesTheBlocksAmongThreads) {
  for (int again = 0; again < 100; ++again) {
    std::vector<std::atomic<int>> done(1000);
    Threads pool;
    parallel_for(pool, 1000, 7, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) ++done[static_cast<size_t>(i)];
    });
    for (const auto& d : done) ASSERT_EQ(d, 1);
  }
}

}  // namespace
}  // namespace hone::kernels
