// A parallel loop on XLA's own thread pool, for handlers of custom calls.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>

namespace hone::kernels {

// Calls work(begin, end) for blocks that together are [0, count), each of at most `block`; returns
// when all are done.
//
// The calling thread takes blocks too, and at the end waits only for blocks that another thread
// has begun. So it may itself be a thread of the pool: where no other is free, it does everything.
//
// Pool is xla::ffi::ThreadPool, or has its num_threads() and Schedule(task).
template <class Pool, class Work>
void parallel_for(Pool& pool, int64_t count, int64_t block, const Work& work) {
  const int64_t blocks = (count + block - 1) / block;
  struct State {  // outlives this call in tasks that start too late to get a block
    std::atomic<int64_t> next = 0;
    std::atomic<int64_t> done = 0;
  };
  const auto state = std::make_shared<State>();
  const auto take_blocks = [state, blocks, block, count, &work] {
    for (int64_t b; (b = state->next.fetch_add(1)) < blocks;) {
      work(b * block, std::min(count, (b + 1) * block));
      if (state->done.fetch_add(1) + 1 == blocks) state->done.notify_all();
    }
  };
  const int64_t helpers = std::min(pool.num_threads(), blocks) - 1;
  for (int64_t i = 0; i < helpers; ++i) pool.Schedule(auto(take_blocks));
  take_blocks();
  for (int64_t d; (d = state->done.load()) < blocks;) state->done.wait(d);
}

}  // namespace hone::kernels
