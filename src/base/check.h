// check(): our own bugs. Prints one line with the place and aborts; never for user input.
#pragma once

#include <fmt/format.h>

#include <source_location>
#include <string>
#include <utility>

namespace hone {

[[noreturn]] void check_failed(const std::string& message, std::source_location where);

// A format string that remembers where it was written.
template <class... Args>
struct LocatedFormat {
  fmt::format_string<Args...> format;
  std::source_location where;
  template <class S>
  consteval LocatedFormat(const S& text,
                          std::source_location here = std::source_location::current())
      : format(text), where(here) {}
};

template <class... Args>
void check(bool ok, LocatedFormat<std::type_identity_t<Args>...> what, Args&&... args) {
  if (!ok) [[unlikely]]
    check_failed(fmt::format(what.format, std::forward<Args>(args)...), what.where);
}

}  // namespace hone
