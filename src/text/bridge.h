// The Rust bridge (bridge/hone_bridge.h) in C++ clothes: views, owned texts, errors as exceptions.
#pragma once

#include <hone_bridge.h>

#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"

namespace hone::text {

inline HoneView view(std::string_view text) { return {text.data(), text.size()}; }

// Takes the text over: copies it and gives the original back.
inline std::string take(HoneText text) {
  std::string copy(text.data != nullptr ? text.data : "", text.size);
  hone_text_free(text);
  return copy;
}

// Throws E("{what}: {the bridge's line}") when the call failed.
template <class E>
void check_bridge(HoneText failure, std::string_view what) {
  if (failure.data != nullptr) throw E("{}: {}", what, take(failure));
}

}  // namespace hone::text
