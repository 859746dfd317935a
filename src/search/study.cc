#include "search/study.h"

#include <fmt/chrono.h>

#include <algorithm>
#include <cmath>
#include <ctime>

#include "base/stopwatch.h"
#include "search/halving.h"

namespace hone::search {
namespace {

std::string now() { return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))); }

void fail(Trial& trial, std::string why) {
  trial.state = State::kFailed;
  trial.value.reset();
  trial.note = std::move(why);
}

// One trial, from its first step to its result.
class Running {
 public:
  Running(const Space& space, Store& store, Trial& trial)
      : space_(space), store_(store), trial_(trial), rungs_(rungs_of(space)) {}

  bool report(const Measurement& m) {
    trial_.steps = m.step;
    if (!std::isfinite(m.value)) {
      fail(trial_, fmt::format("{} is not finite at step {}", space_.objective.metric, m.step));
      return false;
    }
    trial_.measurements.push_back(m);
    store_.measure(trial_.id, m);
    trial_.value = m.value;
    if (std::ranges::find(rungs_, m.step) == rungs_.end()) return true;
    if (goes_on(space_, m, store_.done())) return true;
    trial_.state = State::kStopped;
    return false;
  }

  void end(const Outcome& outcome) {
    trial_.steps = std::max(trial_.steps, outcome.steps);
    for (const auto& [name, value] : outcome.metrics)
      if (std::isfinite(value)) trial_.metrics[name] = value;
    if (trial_.state != State::kRunning) return;
    trial_.state = outcome.early ? State::kStopped : State::kComplete;
    trial_.value = outcome.value;
    if (!outcome.value || !std::isfinite(*outcome.value))
      fail(trial_, fmt::format("{} is not finite at the end", space_.objective.metric));
  }

 private:
  const Space& space_;
  Store& store_;
  Trial& trial_;
  std::vector<int64_t> rungs_;
};

// False when it was interrupted.
bool run_trial(const Space& space, Store& store, const Work& work, Trial& trial) {
  Running running(space, store, trial);
  try {
    const Outcome outcome =
        work.run(trial, [&](const Measurement& m) { return running.report(m); });
    if (outcome.interrupted) return false;
    running.end(outcome);
  } catch (const FileError&) {
    throw;
  } catch (const Interrupted&) {
    throw;
  } catch (const Error& e) {
    fail(trial, e.what());
  }
  return true;
}

}  // namespace

bool run_study(const Space& space, Store& store, const Work& work) {
  while (static_cast<int64_t>(store.done().size()) < *space.trials) {
    if (work.stop()) return false;
    Suggestion s = suggest(space, store.done(), work.refusal);
    Trial trial;
    trial.id = static_cast<int64_t>(store.done().size());
    trial.numbers = std::move(s.numbers);
    trial.started = now();
    const Stopwatch clock;
    store.begin(trial);
    work.on_start(trial);
    if (!s.refused.empty())
      fail(trial, s.refused);
    else if (!run_trial(space, store, work, trial))
      return false;
    trial.seconds = clock.seconds();
    store.finish(trial);
    work.on_end(trial);
  }
  return true;
}

}  // namespace hone::search
