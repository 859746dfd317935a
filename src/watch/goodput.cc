#include "watch/goodput.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

namespace hone::watch {

std::string_view name_of(Phase phase) {
  constexpr std::array<std::string_view, kPhases> names = {"step",       "compile",    "data",
                                                           "checkpoint", "evaluation", "other"};
  return names[static_cast<size_t>(phase)];
}

int64_t peak_memory_bytes() {
  std::ifstream in("/proc/self/status");
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("VmHWM:")) return std::strtoll(line.c_str() + 6, nullptr, 10) * 1024;
  return 0;
}

double GoodputReport::total() const { return std::accumulate(seconds.begin(), seconds.end(), 0.0); }

double GoodputReport::share(Phase phase) const {
  const double all = total();
  return all > 0 ? seconds[static_cast<size_t>(phase)] / all : 0;
}

nlohmann::ordered_json GoodputReport::json() const {
  nlohmann::ordered_json phases;
  for (size_t i = 0; i < kPhases; ++i)
    phases[std::string(name_of(static_cast<Phase>(i)))] = seconds[i];
  return {{"goodput", share(Phase::kStep)},
          {"wall_seconds", total()},
          {"seconds", phases},
          {"peak_memory_bytes", peak_memory_bytes}};
}

GoodputReport Goodput::report() const {
  const std::lock_guard lock(mutex_);
  GoodputReport r{seconds_, watch::peak_memory_bytes()};
  r.seconds[static_cast<size_t>(phase_)] +=
      std::chrono::duration<double>(Clock::now() - since_).count();
  return r;
}

Phase Goodput::change(Phase phase) {
  const std::lock_guard lock(mutex_);
  const auto now = Clock::now();
  seconds_[static_cast<size_t>(phase_)] += std::chrono::duration<double>(now - since_).count();
  since_ = now;
  return std::exchange(phase_, phase);
}

}  // namespace hone::watch
