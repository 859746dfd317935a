#include "base/quote.h"

#include <fmt/format.h>

#include <cstdint>

namespace hone {
namespace {

// Length of the UTF-8 character at the start of `s`, or 0 when there is none. `s` is not empty.
size_t utf8_length(std::string_view s) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(s[i]); };
  const uint8_t lead = byte(0);
  if (lead < 0x80) return 1;
  const size_t length = lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
  if (length == 0 || s.size() < length) return 0;
  for (size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  const bool overlong = (lead == 0xe0 && byte(1) < 0xa0) || (lead == 0xf0 && byte(1) < 0x90);
  const bool surrogate = lead == 0xed && byte(1) >= 0xa0;
  const bool beyond = lead == 0xf4 && byte(1) >= 0x90;
  return overlong || surrogate || beyond ? 0 : length;
}

// C1 controls (U+0080 to U+009F) steer some terminals just as C0 does.
bool is_control(std::string_view character) {
  const auto first = static_cast<uint8_t>(character[0]);
  return first < 0x20 || first == 0x7f ||
         (first == 0xc2 && static_cast<uint8_t>(character[1]) < 0xa0);
}

}  // namespace

bool valid_utf8(std::string_view text) {
  while (!text.empty()) {
    const size_t n = utf8_length(text);
    if (n == 0) return false;
    text.remove_prefix(n);
  }
  return true;
}

std::string quote(std::string_view foreign, size_t longest) {
  std::string out = "\"";
  for (size_t i = 0; i < foreign.size();) {
    if (i >= longest) return out + "...\"";
    const size_t n = utf8_length(foreign.substr(i));
    const std::string_view character = foreign.substr(i, n == 0 ? 1 : n);
    if (n == 0 || is_control(character))
      for (const char c : character) out += fmt::format("\\x{:02x}", static_cast<uint8_t>(c));
    else if (character == "\"" || character == "\\")
      out += fmt::format("\\{}", character);
    else
      out += character;
    i += character.size();
  }
  return out + "\"";
}

}  // namespace hone
