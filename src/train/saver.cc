#include "train/saver.h"

#include <chrono>
#include <utility>

#include "base/check.h"

namespace hone::train {

bool Saver::is_due(const RunState& s, bool last) const {
  if (s.step == 0 || s.step == saved_) return false;
  const bool best = recipe_.best && s.best_loss && s.best_step == s.step;
  return last || best || (recipe_.every > 0 && s.step % recipe_.every == 0) ||
         (retry_ && s.step >= *retry_);
}

void Saver::save(Snapshot snapshot) {
  check(!flight_.valid(), "a save is in flight");
  saved_ = snapshot.state.step;
  flight_ = std::async(std::launch::async, [this, s = std::move(snapshot)] {
    write_checkpoint(folder_.checkpoint(s.state.step), s);
    const bool keeps_best = recipe_.best && s.state.best_loss;
    folder_.prune(s.state.step, recipe_.keep, keeps_best ? s.state.best_step : 0);
  });
}

std::optional<Saver::Failure> Saver::failure(bool wait) {
  if (!flight_.valid()) return std::nullopt;
  if (!wait && flight_.wait_for(std::chrono::seconds(0)) != std::future_status::ready)
    return std::nullopt;
  try {
    flight_.get();
    retry_.reset();
    gap_ = 1;
    return std::nullopt;
  } catch (const std::exception& e) {
    const int64_t step = std::exchange(saved_, 0);
    retry_ = step + std::exchange(gap_, 2 * gap_);
    return Failure{step, e.what()};
  }
}

}  // namespace hone::train
