#include "watch/prometheus.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

namespace hone::watch {
namespace {

std::string number(double v) {
  if (std::isnan(v)) return "NaN";
  if (std::isinf(v)) return v > 0 ? "+Inf" : "-Inf";
  return fmt::format("{}", v);
}

void add(std::string& out, std::string_view name, std::string_view kind, std::string_view help,
         double value) {
  out += fmt::format("# HELP hone_train_{0} {1}\n# TYPE hone_train_{0} {2}\nhone_train_{0} {3}\n",
                     name, help, kind, number(value));
}

std::string label(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\' || c == '"') out += '\\';
    if (c == '\n')
      out += "\\n";
    else
      out += c;
  }
  return out;
}

void add_labelled(std::string& out, std::string_view name, std::string_view kind,
                  std::string_view help, std::string_view key, const Metrics& values) {
  if (values.empty()) return;
  out += fmt::format("# HELP hone_train_{0} {1}\n# TYPE hone_train_{0} {2}\n", name, help, kind);
  for (const auto& [value_of, value] : values)
    out +=
        fmt::format("hone_train_{}{{{}=\"{}\"}} {}\n", name, key, label(value_of), number(value));
}

Metrics seconds_of(const GoodputReport& r) {
  Metrics out;
  for (size_t i = 0; i < kPhases; ++i)
    out.emplace_back(name_of(static_cast<Phase>(i)), r.seconds[i]);
  return out;
}

}  // namespace

Prometheus::Prometheus(int64_t port, const Goodput* goodput) : goodput_(goodput) {
  server_ = std::make_unique<HttpServer>(
      port, [this](std::string_view path) -> std::optional<HttpServer::Page> {
        if (path == "/health") return HttpServer::Page{"text/plain; charset=utf-8", "ok\n"};
        if (path != "/metrics") return std::nullopt;
        return HttpServer::Page{"text/plain; version=0.0.4; charset=utf-8", text()};
      });
}

void Prometheus::take(const Step& s) {
  const std::lock_guard lock(mutex_);
  step_ = s;
  ++steps_seen_;
  tokens_ += std::max<int64_t>(0, s.tokens);
  targets_ += std::max<int64_t>(0, s.targets);
  last_time_ =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

void Prometheus::take(const Evaluation& e) {
  const std::lock_guard lock(mutex_);
  evaluation_ = e;
}

std::string Prometheus::text() const {
  std::string out;
  const std::lock_guard lock(mutex_);
  add(out, "processed_steps_total", "counter", "Steps taken by this process.",
      static_cast<double>(steps_seen_));
  add(out, "tokens_total", "counter", "Tokens trained on, padding not counted.",
      static_cast<double>(tokens_));
  add(out, "targets_total", "counter", "Tokens learnt.", static_cast<double>(targets_));
  if (step_) {
    const Step& s = *step_;
    add(out, "step", "gauge", "The newest step of the run.", static_cast<double>(s.step));
    add(out, "steps", "gauge", "Steps the run will have.", static_cast<double>(s.steps));
    add(out, "epoch", "gauge", "Times the data was gone through.", s.epoch);
    add(out, "loss", "gauge", "Training loss of the newest step.", s.loss);
    add(out, "grad_norm", "gauge", "Gradient norm before clipping.", s.grad_norm);
    add(out, "learning_rate", "gauge", "Learning rate.", s.learning_rate);
    add(out, "tokens_per_second", "gauge", "Of the newest step.", s.tokens_per_second);
    add(out, "last_step_timestamp_seconds", "gauge", "When the newest step ended.", last_time_);
    add_labelled(out, "metric", "gauge", "What the objective reports.", "name", s.metrics);
  }
  if (evaluation_) {
    const Evaluation& e = *evaluation_;
    add(out, "eval_step", "gauge", "Step of the newest evaluation.", static_cast<double>(e.step));
    add(out, "eval_loss", "gauge", "Validation loss.", e.loss);
    add(out, "eval_perplexity", "gauge", "Validation perplexity.", e.perplexity);
    add_labelled(out, "eval_metric", "gauge", "What the objective reports of the validation set.",
                 "name", e.metrics);
  }
  if (goodput_ == nullptr) return out;
  const GoodputReport r = goodput_->report();
  add_labelled(out, "phase_seconds_total", "counter", "Wall time by what it went to.", "phase",
               seconds_of(r));
  add(out, "peak_memory_bytes", "gauge", "Most memory this process has had.",
      static_cast<double>(r.peak_memory_bytes));
  return out;
}

}  // namespace hone::watch
