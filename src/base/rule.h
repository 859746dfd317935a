// What a value must satisfy beyond its type: a range or a choice. An empty rule allows anything.
#pragma once

#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace hone {

struct Rule {
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
  bool open = false;  // min itself is outside
  std::vector<std::string_view> choices = {};

  std::string text() const;  // "1 to 64", "at least 1", "above 0", "lora | none", ""
  // What is wrong with the value ("must be 1 to 64, found 0"), or "". Limits are exact below 2^53.
  std::string problem(double value) const;
  std::string problem(std::string_view value) const;
};

Rule at_least(double min);
Rule above(double min);
Rule between(double min, double max);  // both ends are inside
Rule one_of(std::initializer_list<std::string_view> choices);

// The shortest text that reads back as the same number, always with a point: "0.1", "1.0e-08".
std::string shortest(double value);

}  // namespace hone
