// When a run is saved, and its checkpoints written in the background while training goes on.
//
// One save at a time: the next waits for it. A save that fails is never taken for one
// that is done: it is told once, and save is due again a step later, then two, then four, and so
// on until one succeeds. The checkpoints before it stay meanwhile: older ones are removed only when
// a newer one is on the disk.
#pragma once

#include <functional>
#include <future>
#include <optional>
#include <string>

#include "train/run_folder.h"

namespace hone::train {

class Saver {
 public:
  struct Failure {
    int64_t step = 0;
    std::string reason;
  };

  // `folder` must outlive this. The destructor waits for the save in flight.
  Saver(const RunFolder& folder, const SaveRecipe& recipe) : folder_(folder), recipe_(recipe) {}

  // Is this step's end to be saved? `last`: nothing comes after it. A step that was resumed from
  // is saved already.
  bool is_due(const RunState& state, bool last) const;
  void resumed_from(int64_t step) { saved_ = step; }

  // No save may be in flight: failure(true) waits for it.
  void save(Snapshot snapshot);
  // Why the save in flight failed; nothing when it did not, has not ended (unless `wait`), or there
  // is none.
  std::optional<Failure> failure(bool wait);

 private:
  const RunFolder& folder_;
  SaveRecipe recipe_;
  int64_t saved_ = 0;  // the step of the last save that has not failed
  std::optional<int64_t> retry_;
  int64_t gap_ = 1;           // steps until a save that failed is tried again
  std::future<void> flight_;  // std::async's: it waits when it goes
};

}  // namespace hone::train
