// A run's present state for Prometheus: GET /metrics in the text format 0.0.4, GET /health.
//
// Names are hone_train_*. Gauges hold the newest value; a step or an evaluation that was not yet
// has no line. Counters only rise: less than nothing counts as 0.
#pragma once

#include <memory>
#include <mutex>
#include <optional>

#include "watch/events.h"
#include "watch/goodput.h"
#include "watch/http_server.h"

namespace hone::watch {

class Prometheus : public Sink {
 public:
  // Serves until it is destroyed. `goodput` must outlive it; nullptr for none. Throws Error when
  // the port cannot be had.
  Prometheus(int64_t port, const Goodput* goodput);

  void take(const Step& s) override;
  void take(const Evaluation& e) override;

  int port() const { return server_->port(); }
  std::string text() const;  // what /metrics gives

 private:
  const Goodput* goodput_;
  mutable std::mutex mutex_;
  std::optional<Step> step_;
  std::optional<Evaluation> evaluation_;
  int64_t tokens_ = 0, targets_ = 0, steps_seen_ = 0;
  double last_time_ = 0;
  std::unique_ptr<HttpServer> server_;  // last: its thread ends before the rest
};

}  // namespace hone::watch
