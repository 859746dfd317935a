#include "base/rule.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/nearest.h"
#include "base/quote.h"

namespace hone {

std::string Rule::text() const {
  if (!choices.empty()) return fmt::format("{}", fmt::join(choices, " | "));
  if (std::isfinite(min) && std::isfinite(max)) return fmt::format("{} to {}", min, max);
  if (std::isfinite(min)) return fmt::format("{} {}", open ? "above" : "at least", min);
  return std::isfinite(max) ? fmt::format("at most {}", max) : "";
}

std::string Rule::problem(double value) const {
  if (value >= min && value <= max && !(open && value == min)) return "";
  return fmt::format("must be {}, found {}", text(), value);
}

std::string Rule::problem(std::string_view value) const {
  if (choices.empty() || std::ranges::find(choices, value) != choices.end()) return "";
  return fmt::format("must be one of {}, found {}{}", text(), quote(value),
                     did_you_mean(value, choices));
}

Rule at_least(double min) { return {.min = min}; }
Rule above(double min) { return {.min = min, .open = true}; }
Rule between(double min, double max) { return {.min = min, .max = max}; }
Rule one_of(std::initializer_list<std::string_view> choices) { return {.choices = choices}; }

std::string shortest(double value) {
  char buffer[32];
  char* end = std::to_chars(std::begin(buffer), std::end(buffer), value).ptr;
  std::string text(std::begin(buffer), end);
  // YAML 1.1 readers take 1e-08 for a word, and 32 for an integer.
  if (std::isfinite(value) && text.find('.') == std::string::npos)
    text.insert(std::min(text.find('e'), text.size()), ".0");
  return text;
}

}  // namespace hone
