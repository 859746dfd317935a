// Ctrl-C and SIGTERM: the first asks the work to save and stop, the second kills.
//
//   const InterruptGuard guard;      // for the length of the work
//   while (...) { step(); if (interrupted()) { save(); throw Interrupted("..."); } }
//
// Without a guard the signals keep their usual meaning, so that short commands stop at once.
#pragma once

#include <csignal>

namespace hone::cli {

class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();  // the former actions again
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

 private:
  struct sigaction former_int_{}, former_term_{};
};

// The signal that came, or 0; since the last guard was made.
int interrupted_by();
bool interrupted();  // since the last guard was made; may be asked from any thread

}  // namespace hone::cli
