// What a fuzz target defines; libfuzzer.cc and replay.cc call it.
#pragma once

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string_view>

#include "base/error.h"
#include "fuzz/mutate.h"

namespace hone::fuzz {

const Format& format();

// Reads the bytes as the parser's users would, aborts on what it must never do, and returns whether
// it took them.
bool run(std::span<const std::byte> bytes);

// Runs the action; an Error is allowed when its message is one line. Returns whether there was
// none.
template <class Action>
bool accepts(Action action) {
  try {
    action();
    return true;
  } catch (const Error& e) {
    const std::string_view message = e.what();
    if (message.empty() || message.size() > 1000 || message.find('\n') != message.npos) {
      std::fprintf(stderr, "not one line: %s\n", e.what());
      std::abort();
    }
    return false;
  }
}

}  // namespace hone::fuzz
