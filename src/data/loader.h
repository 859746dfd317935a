// A Batcher that works ahead: a thread of its own keeps a few batches ready.
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>

#include "data/batcher.h"

namespace hone::data {

class Loader {
 public:
  // As Batcher; `ahead` batches at most wait to be taken. The set must outlive it.
  Loader(const SampleSet& set, uint64_t seed, int64_t batches, size_t ahead = 2);
  ~Loader() { stop(); }
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;

  // The same batches as Batcher::next(); throws what it threw.
  Batch next();
  // Behind the last batch that was taken, however many are ready.
  Cursor cursor() const { return cursor_; }
  void seek(const Cursor& cursor);  // as Batcher::seek()
  int64_t targets_padded() const { return batcher_.targets_padded(); }

 private:
  struct Ready {
    Batch batch;
    Cursor after;
    std::exception_ptr failed;
  };

  void start();
  void stop();
  void work(const std::stop_token& stopped);
  Ready make();

  Batcher batcher_;  // the thread's, while it runs
  size_t ahead_;
  Cursor cursor_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Ready> ready_;
  std::jthread thread_;
};

}  // namespace hone::data
