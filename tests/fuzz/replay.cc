// Runs a fuzz target on a fixed sequence of mutated seeds: X_fuzz [INPUTS [FIRST]].
//
// Input N is the same on every machine. When one fails, its number is printed, and
// `X_fuzz 1 N` runs it alone. Memory is bounded by the input's size: a parser that believes a
// count before it has seen the bytes ends here.
#include <unistd.h>

#include <csignal>
#include <new>

#include "fuzz/fuzz.h"

namespace {

constexpr uint64_t kInputs = 20'000;
// Mutations that are all refused, or all harmless, test nothing.
constexpr uint64_t kLeastAccepted = 50, kMostAccepted = 18'000;

uint64_t current = 0;                      // the input that runs
size_t allocated = 0, allowed = SIZE_MAX;  // bytes of it, all allocations together

void say_which() {
  char text[64];
  const int n = std::snprintf(text, sizeof text, "failed on input %llu\n",
                              static_cast<unsigned long long>(current));
  if (write(STDERR_FILENO, text, static_cast<size_t>(n)) < 0) _exit(1);
}
void on_signal(int signal) {
  say_which();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

}  // namespace

extern "C" __attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)());

void* operator new(size_t size) {
  allocated += size;
  if (allocated > allowed) {
    std::fputs("the parser allocates more than its input allows\n", stderr);
    std::abort();
  }
  void* memory = std::malloc(size);
  if (memory == nullptr) std::abort();
  return memory;
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }

int main(int argc, char** argv) {
  const uint64_t inputs = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : kInputs;
  const uint64_t first = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 0;
  for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL})
    std::signal(signal, on_signal);
  if (__sanitizer_set_death_callback != nullptr) __sanitizer_set_death_callback(say_which);

  const hone::fuzz::Format& format = hone::fuzz::format();
  const hone::fuzz::Mutator mutator(format);
  for (const std::string& seed : format.seeds)
    if (!hone::fuzz::run(std::as_bytes(std::span(seed)))) {
      std::fputs("a seed is refused\n", stderr);
      return 1;
    }
  uint64_t accepted = 0;
  for (current = first; current < first + inputs; ++current) {
    const std::string input = mutator.input(current);
    const std::vector<char> exact(input.begin(), input.end());  // sanitizers see one byte past
    allocated = 0;
    allowed = (size_t{64} << 20) + 2 * exact.size();
    accepted += hone::fuzz::run(std::as_bytes(std::span(exact)));
    allowed = SIZE_MAX;
  }
  std::printf("%llu inputs, %llu accepted\n", static_cast<unsigned long long>(inputs),
              static_cast<unsigned long long>(accepted));
  const bool enough = accepted >= kLeastAccepted && accepted <= kMostAccepted;
  return inputs == kInputs && !enough ? 1 : 0;
}
