// Everything that watches one run: what the trainer tells goes to all of it.
//
//   watch::Watch watch(folder, {.every = 10, .tensorboard = true, .metrics_port = 9400},
//                      resumed_step, &goodput, say);
//   watch.take(watch::Step{...});     // each step; files get those that are due
//
// metrics.jsonl is the run's record: a line that cannot be written is a FileError. The rest is for
// people's comfort and never ends a run: what fails is said once and left out from then on.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>

#include "watch/events.h"
#include "watch/goodput.h"
#include "watch/metrics_file.h"

namespace hone::watch {

struct Options {
  int64_t every = 10;  // steps between the lines of files; the first and the last are due too
  bool tensorboard = false;
  int64_t metrics_port = 0;  // 0 for none
};

class Watch : public Sink {
 public:
  // `from` is the step that the run goes on from. Throws Error when the port cannot be had.
  Watch(const std::filesystem::path& folder, const Options& options, int64_t from,
        const Goodput* goodput, std::function<void(const std::string&)> say);

  void take(const Step& s) override;
  void take(const Evaluation& e) override;
  void take(const Sample& s) override;
  void take(const Histogram& h) override;
  void take(const Line& l) override;

 private:
  template <class Event>
  void tell(const Event& event);
  template <class Event>
  void try_tell(std::unique_ptr<Sink>& sink, const Event& event);

  Options options_;
  std::function<void(const std::string&)> say_;
  MetricsFile record_;
  std::unique_ptr<Sink> tensorboard_, endpoint_;
};

}  // namespace hone::watch
