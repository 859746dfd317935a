#include "watch/watch.h"

#include "watch/prometheus.h"
#include "watch/tensorboard.h"

namespace hone::watch {

Watch::Watch(const std::filesystem::path& folder, const Options& options, int64_t from,
             const Goodput* goodput, std::function<void(const std::string&)> say)
    : options_(options), say_(std::move(say)), record_(folder / "metrics.jsonl") {
  if (options.tensorboard)
    tensorboard_ = std::make_unique<TensorBoard>(folder / "tensorboard", from);
  if (options.metrics_port > 0)
    endpoint_ = std::make_unique<Prometheus>(options.metrics_port, goodput);
}

template <class Event>
void Watch::tell(const Event& event) {
  record_.take(event);
  try_tell(tensorboard_, event);
  try_tell(endpoint_, event);
}

template <class Event>
void Watch::try_tell(std::unique_ptr<Sink>& sink, const Event& event) {
  if (!sink) return;
  try {
    sink->take(event);
  } catch (const std::exception& e) {
    sink.reset();
    say_(std::string(e.what()) + "; the run goes on without");
  }
}

void Watch::take(const Step& s) {
  if (s.step % options_.every == 0 || s.step == 1 || s.step == s.steps)
    tell(s);
  else
    try_tell(endpoint_, s);
}

void Watch::take(const Evaluation& e) { tell(e); }
void Watch::take(const Sample& s) { tell(s); }
void Watch::take(const Histogram& h) { tell(h); }
void Watch::take(const Line& l) { tell(l); }

}  // namespace hone::watch
