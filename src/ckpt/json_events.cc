#include "ckpt/json_events.h"

#include <algorithm>

#include "base/error.h"

namespace hone::ckpt {
namespace {

// The parser copies a token it cannot read seven times into its message.
constexpr size_t kLongestToken = size_t{8} << 20;
constexpr std::string_view kBetweenTokens = " \t\r\n,:[]{}";

size_t longest_token(std::string_view text) {
  size_t longest = 0, begin = 0, i = 0;
  bool in_string = false;
  for (; i < text.size(); ++i) {
    const char c = text[i];
    longest = std::max(longest, i - begin);
    if (in_string && c == '\\')
      ++i;
    else if (c == '"')
      in_string = !in_string, begin = i;
    else if (!in_string && kBetweenTokens.contains(c))
      begin = i;
  }
  return std::max(longest, i - begin);
}

}  // namespace

void JsonEvents::parse(std::string_view text) {
  if (longest_token(text) > kLongestToken)
    throw FileError("{} holds a string or number of more than {} bytes", what_, kLongestToken);
  nlohmann::json::sax_parse(text, this);
}

bool JsonEvents::parse_error(size_t position, const std::string&,
                             const nlohmann::detail::exception&) {
  throw FileError("{} is not JSON: syntax error at byte {}", what_, position);
}

void JsonEvents::unexpected(std::string_view event) const {
  throw FileError("{} holds {} where it may not stand, in {}", what_, event, place());
}

}  // namespace hone::ckpt
