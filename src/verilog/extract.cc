#include "verilog/extract.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace hone::verilog {
namespace {

constexpr std::string_view kFence = "```";
constexpr std::string_view kOpen = "module", kClose = "endmodule";

bool space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }
bool word_char(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

size_t skip(std::string_view text, size_t at, bool (*over)(char)) {
  while (at < text.size() && over(text[at])) ++at;
  return at;
}

bool alone(std::string_view text, size_t at, std::string_view word) {
  const size_t end = at + word.size();
  return (at == 0 || !word_char(text[at - 1])) && (end == text.size() || !word_char(text[end]));
}

// `module` at `at`, then a name, then # ( or ;.
bool opens(std::string_view text, size_t at) {
  for (size_t i = at; i > 0 && text[i - 1] != '\n'; --i)
    if (!space(text[i - 1])) return false;
  const size_t after = at + kOpen.size(), name = skip(text, after, space);
  const size_t name_end = skip(text, name, word_char), next = skip(text, name_end, space);
  return name > after && name_end > name && next < text.size() &&
         std::string_view("#(;").contains(text[next]);
}

std::string modules_in(std::string_view text) {
  size_t begin = text.find(kOpen);
  while (begin != std::string_view::npos && !(alone(text, begin, kOpen) && opens(text, begin)))
    begin = text.find(kOpen, begin + 1);
  size_t end = text.rfind(kClose);
  while (end != std::string_view::npos && end > 0 && !alone(text, end, kClose))
    end = text.rfind(kClose, end - 1);
  if (begin == std::string_view::npos || end == std::string_view::npos || end < begin) return "";
  return std::string(text.substr(begin, end + kClose.size() - begin)) + "\n";
}

// Where the block's text begins: after the language, if one is named.
size_t body_of(std::string_view text, size_t fence) {
  const size_t language = fence + kFence.size(), end = skip(text, language, word_char);
  return text.substr(language, end - language) == kOpen ? language : end;
}

}  // namespace

std::string answer(std::string_view module) { return fmt::format("```verilog\n{}```", module); }

std::string extract_module(std::string_view answer) {
  for (size_t at = answer.find(kFence); at != std::string_view::npos;) {
    const size_t body = body_of(answer, at);
    const size_t end = std::min(answer.find(kFence, body), answer.size());
    std::string found = modules_in(answer.substr(body, end - body));
    if (!found.empty()) return found;
    at = answer.find(kFence, std::min(end + kFence.size(), answer.size()));
  }
  return modules_in(answer);
}

}  // namespace hone::verilog
