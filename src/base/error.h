// Typed errors. Each says what failed, on what, and what to do next, in one line.
//
// Graph building, configs, recipes, checkpoints and files throw these; main() catches them once.
// What a request or a schedule may meet every second is a std::expected instead, and our own bugs
// end in check() (check.h).
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace hone {

// Every error a user can cause or meet. The message is one line.
struct Error : std::runtime_error {
  template <class... Args>
  explicit Error(fmt::format_string<Args...> format, Args&&... args)
      : std::runtime_error(fmt::format(format, std::forward<Args>(args)...)) {}
};

// The operands of an operation do not fit it.
struct ShapeError : Error {
  using Error::Error;
};

// A config.json, a recipe or a catalogue says something we do not know or cannot do.
struct ConfigError : Error {
  using Error::Error;
};

// A file is missing, truncated, or lies about itself.
struct FileError : Error {
  using Error::Error;
};

// The command line is wrong; main() exits with 2 instead of 1.
struct UsageError : Error {
  using Error::Error;
};

// The user pressed Ctrl-C and the work was saved; main() exits with 130.
struct Interrupted : Error {
  using Error::Error;
};

}  // namespace hone
