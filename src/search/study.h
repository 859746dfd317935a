// The loop: propose, run, record, until the trials are done.
//
//   Store store("runs/study", space, recipe);
//   const bool all = run_study(space, store, {.run = train, .refusal = ..., .started = ..., ...});
//
// One trial runs at a time. What it costs is the caller's matter: `run` is given the values and
// reports back.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "search/sampler.h"
#include "search/store.h"

namespace hone::search {

struct Outcome {
  std::optional<double> value = {};            // the objective at the end
  int64_t steps = 0;                           // done
  std::map<std::string, double> metrics = {};  // numbers that are not finite are left out
  bool interrupted = false;                    // the user's wish: the trial counts as not begun
  bool early = false;                          // it stopped by itself
};

// Takes a measurement of the objective; false: the trial ends here. The caller measures at each of
// the study's rungs, and may at other steps.
using Report = std::function<bool(const Measurement&)>;

struct Work {
  // An Error is the trial's failure. A FileError is the machine's: it ends the study.
  std::function<Outcome(const Trial& trial, const Report& report)> run;
  Refusal refusal;
  std::function<void(const Trial&)> on_start, on_end;
  std::function<bool()> stop;  // asked before each trial
};

// False when it was stopped or a trial was interrupted; the store then holds those before.
bool run_study(const Space& space, Store& store, const Work& work);

}  // namespace hone::search
