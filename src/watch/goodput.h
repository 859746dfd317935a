// Where the time of a run goes. Each moment belongs to one phase, so the shares add up to all of
// it.
//
//   Goodput goodput;                                         // other, from here on
//   { const auto phase = goodput.in(Phase::kStep); ... }     // then back to what it was before
//   report["goodput"] = goodput.report().json();
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <string_view>

namespace hone::watch {

enum class Phase { kStep, kCompile, kData, kCheckpoint, kEvaluation, kOther };
constexpr size_t kPhases = 6;
std::string_view name_of(Phase phase);  // "step"

int64_t peak_memory_bytes();  // of this process so far, as the kernel counts it; 0 if it does not

struct GoodputReport {
  std::array<double, kPhases> seconds{};
  int64_t peak_memory_bytes = 0;

  double total() const;
  double share(Phase phase) const;  // of the total; 0 before any time passed
  // {"goodput":0.93,"wall_seconds":...,"seconds":{"step":...},"peak_memory_bytes":...}
  nlohmann::ordered_json json() const;
};

// The phases are of one thread; report() may be called from any.
class Goodput {
 public:
  Goodput() : since_(Clock::now()) {}

  class [[nodiscard]] Scope {
   public:
    Scope(Goodput& goodput, Phase phase) : goodput_(goodput), before_(goodput.change(phase)) {}
    ~Scope() { goodput_.change(before_); }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Goodput& goodput_;
    Phase before_;
  };
  Scope in(Phase phase) { return Scope(*this, phase); }

  GoodputReport report() const;

 private:
  using Clock = std::chrono::steady_clock;

  Phase change(Phase phase);  // what it was

  mutable std::mutex mutex_;
  Clock::time_point since_;
  Phase phase_ = Phase::kOther;
  std::array<double, kPhases> seconds_{};
};

}  // namespace hone::watch
