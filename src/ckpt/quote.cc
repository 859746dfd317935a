#include "ckpt/quote.h"

#include <fmt/format.h>

namespace hone::ckpt {

std::string quoted(std::string_view foreign) {
  constexpr size_t kLongest = 80;
  std::string out = "\"";
  for (const char c : foreign.substr(0, kLongest)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte > 0x7e || c == '"' || c == '\\')
      out += fmt::format("\\x{:02x}", byte);
    else
      out += c;
  }
  return out + (foreign.size() > kLongest ? "\"..." : "\"");
}

}  // namespace hone::ckpt
