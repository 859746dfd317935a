#include "data/loader.h"

#include <utility>

namespace hone::data {

Loader::Loader(const SampleSet& set, uint64_t seed, int64_t batches, size_t ahead)
    : batcher_(set, seed, batches), ahead_(ahead) {}

void Loader::start() {
  if (!thread_.joinable())
    thread_ = std::jthread([this](const std::stop_token& stopped) { work(stopped); });
}

void Loader::stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
  ready_.clear();
}

Loader::Ready Loader::make() {
  try {
    Batch batch = batcher_.next();
    return {std::move(batch), batcher_.cursor(), nullptr};
  } catch (...) {
    return {{}, {}, std::current_exception()};
  }
}

// Ends at the first failure, which may lie behind the run's last batch, where nobody asks for it.
void Loader::work(const std::stop_token& stopped) {
  for (bool failed = false; !failed;) {
    {
      std::unique_lock lock(mutex_);
      if (!changed_.wait(lock, stopped, [&] { return ready_.size() < ahead_; })) return;
    }
    Ready ready = make();
    failed = ready.failed != nullptr;
    const std::lock_guard lock(mutex_);
    ready_.push_back(std::move(ready));
    changed_.notify_all();
  }
}

Batch Loader::next() {
  start();
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !ready_.empty(); });
  if (ready_.front().failed) std::rethrow_exception(ready_.front().failed);
  Ready ready = std::move(ready_.front());
  ready_.pop_front();
  changed_.notify_all();
  cursor_ = ready.after;
  return std::move(ready.batch);
}

void Loader::seek(const Cursor& cursor) {
  stop();
  batcher_.seek(cursor);
  cursor_ = cursor;
}

}  // namespace hone::data
