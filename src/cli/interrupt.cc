#include "cli/interrupt.h"

#include <atomic>

namespace hone::cli {
namespace {

std::atomic<int> g_signal = 0;
static_assert(std::atomic<int>::is_always_lock_free);  // so a signal handler may set it

void on_signal(int signal) {
  g_signal.store(signal);
  std::signal(SIGINT, SIG_DFL);  // async-signal-safe
  std::signal(SIGTERM, SIG_DFL);
}

}  // namespace

InterruptGuard::InterruptGuard() {
  g_signal.store(0);
  struct sigaction action{};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;  // a save that is being written is not cut short
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, &former_int_);
  sigaction(SIGTERM, &action, &former_term_);
}

InterruptGuard::~InterruptGuard() {
  sigaction(SIGINT, &former_int_, nullptr);
  sigaction(SIGTERM, &former_term_, nullptr);
}

int interrupted_by() { return g_signal.load(); }

bool interrupted() { return interrupted_by() != 0; }

}  // namespace hone::cli
