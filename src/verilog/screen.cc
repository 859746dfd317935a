#include "verilog/screen.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "base/quote.h"

namespace hone::verilog {
namespace {

constexpr size_t kLongest = size_t{64} << 10;

bool word_char(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$';
}

bool harmless(std::string_view word) {
  static const std::set<std::string_view> kWords{
      "$signed",  "$unsigned", "$clog2",   "$bits",   "$countones", "$onehot",         "$onehot0",
      "$display", "$write",    "$monitor", "$strobe", "$time",      "$stime",          "$realtime",
      "$random",  "$urandom",  "$finish",  "$stop",   "`timescale", "`default_nettype"};
  return kWords.contains(word);
}

// Comments become a space. Nothing when a comment or a string does not end.
std::optional<std::string> without_comments(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    const std::string_view rest = text.substr(i);
    if (rest.starts_with("//")) {
      i = std::min(text.find_first_of("\r\n", i), text.size());
      out += ' ';
    } else if (rest.starts_with("/*")) {
      const size_t end = text.find("*/", i + 2);
      if (end == std::string_view::npos) return std::nullopt;
      i = end + 2;
      out += ' ';
    } else if (rest.starts_with('"')) {
      size_t end = i + 1;
      while (end < text.size() && text[end] != '"' && text[end] != '\n' && text[end] != '\r')
        end += text[end] == '\\' ? 2 : 1;
      if (end >= text.size() || text[end] != '"') return std::nullopt;
      out += "\"\"";
      i = end + 1;
    } else {
      out += text[i++];
    }
  }
  return out;
}

bool control(char c) {
  return static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\r' && c != '\t';
}

}  // namespace

std::optional<std::string> refusal(std::string_view module) {
  if (module.size() > kLongest) return fmt::format("module is longer than {} bytes", kLongest);
  if (std::ranges::any_of(module, control)) return "module has control characters";
  const std::optional<std::string> code = without_comments(module);
  if (!code) return "module has a comment or a string without an end";
  for (size_t i = 0; i < code->size(); ++i) {
    const char c = (*code)[i];
    if (c == '\\') return "module has an escaped identifier, which is not simulated here";
    if (c != '$' && c != '`') continue;
    if (i > 0 && c == '$' && word_char((*code)[i - 1])) continue;  // inside a plain identifier
    size_t end = i + 1;
    while (end < code->size() && word_char((*code)[end])) ++end;
    const std::string_view word = std::string_view(*code).substr(i, end - i);
    if (!harmless(word))
      return fmt::format("module uses {}, which is not simulated here", quote(word));
  }
  return std::nullopt;
}

}  // namespace hone::verilog
