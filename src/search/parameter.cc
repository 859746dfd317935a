#include "search/parameter.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include "base/check.h"
#include "base/fields.h"

namespace hone::search {
namespace {

constexpr double kExact = 0x1p53;  // integers below this are doubles

// One of the four, and a step with the plain ones.
struct Range {
  std::optional<std::array<double, 2>> uniform, log_uniform;
  std::optional<std::array<int64_t, 2>> integer, log_integer;
  std::optional<double> step;

  void fields(auto& v) {
    v("uniform", uniform, "lowest and highest");
    v("log_uniform", log_uniform, "the same, uniform in the logarithm");
    v("integer", integer, "lowest and highest integer");
    v("log_integer", log_integer, "the same, uniform in the logarithm");
    v("step", step, "distance of the values of uniform and integer", above(0));
  }
};

// 0.1 + 2 * 0.1 as people write it.
double rounded(double value) {
  const std::string text = fmt::format("{:.12g}", value);
  double out = 0;
  std::from_chars(text.data(), text.data() + text.size(), out);
  return out;
}

Parameter real(const std::array<double, 2>& ends, bool log) {
  return {.name = {},
          .kind = Parameter::Kind::kReal,
          .log = log,
          .low = ends[0],
          .high = ends[1],
          .step = 0};
}

Parameter integer(const std::array<int64_t, 2>& ends, bool log) {
  return {.name = {},
          .kind = Parameter::Kind::kInteger,
          .log = log,
          .low = static_cast<double>(ends[0]),
          .high = static_cast<double>(ends[1]),
          .step = 1};
}

Parameter read_range(const Yaml& y, const std::string& path) {
  Range r;
  hone::read_value(y, path, r, {});
  if (int{r.uniform.has_value()} + r.log_uniform.has_value() + r.integer.has_value() +
          r.log_integer.has_value() !=
      1)
    refuse(y, path, "give one of uniform, log_uniform, integer, log_integer, or a list of choices");
  Parameter p = r.uniform       ? real(*r.uniform, false)
                : r.log_uniform ? real(*r.log_uniform, true)
                : r.integer     ? integer(*r.integer, false)
                                : integer(*r.log_integer, true);
  if (p.low >= p.high)
    refuse(y, path, fmt::format("{} is not below {}; give [lowest, highest]", p.low, p.high));
  if (p.log && p.low <= 0) refuse(y, path, "a logarithmic range begins above 0");
  if (p.kind == Parameter::Kind::kInteger && std::max(-p.low, p.high) > kExact)
    refuse(y, path, "integers end at 2^53");
  if (!std::isfinite(p.high - p.low)) refuse(y, path, "the range is too wide");
  if (!r.step) return p;
  if (p.log) refuse(y, path, "a logarithmic range has no step");
  if (p.kind == Parameter::Kind::kInteger && *r.step != std::round(*r.step))
    refuse(y, path, fmt::format("the step of integers is an integer, found {}", *r.step));
  const double steps = std::floor((p.high - p.low) / *r.step + 1e-9);
  if (steps < 1) refuse(y, path, fmt::format("the step {} is wider than the range", *r.step));
  if (steps > kExact) refuse(y, path, fmt::format("the step {} is too small", *r.step));
  p.step = *r.step;
  p.high = rounded(p.low + steps * p.step);
  return p;
}

Parameter read_choices(const Yaml& y, const std::string& path) {
  if (y.items.empty()) refuse(y, path, "the list of choices is empty");
  Parameter p;
  p.choices = y.items;
  p.high = static_cast<double>(y.items.size() - 1);
  std::vector<std::string> texts;
  for (const Yaml& choice : y.items) texts.push_back(yaml_flow(choice));
  std::ranges::sort(texts);
  if (const auto twice = std::ranges::adjacent_find(texts); twice != texts.end())
    refuse(y, path, fmt::format("the choice {} is there twice", *twice));
  return p;
}

}  // namespace

int64_t Parameter::count() const {
  if (kind == Kind::kChoice) return static_cast<int64_t>(choices.size());
  return step == 0 ? 0 : static_cast<int64_t>(std::round((high - low) / step)) + 1;
}

double Parameter::at(int64_t i) const {
  if (kind == Kind::kChoice) return static_cast<double>(i);
  const double value = low + static_cast<double>(i) * step;
  return kind == Kind::kInteger ? value : std::min(rounded(value), high);
}

double Parameter::draw(Random& r) const {
  if (!log && count() > 0) return at(r.below(count()));
  return from_axis(r.uniform(axis_low(), axis_high()));
}

bool Parameter::contains(double number) const {
  if (kind != Kind::kReal && number != std::round(number)) return false;
  return number >= low && number <= high;
}

std::string Parameter::text(double number) const {
  if (kind == Kind::kReal) return shortest(number);
  check(contains(number), "{}: no value {}", name, number);
  if (kind == Kind::kInteger) return std::to_string(static_cast<int64_t>(number));
  return yaml_flow(choices[static_cast<size_t>(number)]);
}

double Parameter::axis(double number) const { return log ? std::log(number) : number; }
double Parameter::axis_low() const { return axis(low - step / 2); }
double Parameter::axis_high() const { return axis(high + step / 2); }

double Parameter::from_axis(double x) const {
  const double value = log ? std::exp(x) : x;
  if (step == 0) return std::clamp(value, low, high);
  const double steps = std::round((value - low) / step);
  return at(static_cast<int64_t>(std::clamp(steps, 0.0, static_cast<double>(count() - 1))));
}

void read_value(const Yaml& y, const std::string& path, Parameters& out, const Rule&) {
  expect_map(y, path);
  out.list.clear();
  for (size_t i = 0; i < y.keys.size(); ++i) {
    const Yaml& value = y.items[i];
    const std::string at = fmt::format("{}.{}", path, y.keys[i]);
    if (value.kind != Yaml::Kind::kList && value.kind != Yaml::Kind::kMap)
      refuse(value, at,
             fmt::format("expected a list of choices or a range such as {{uniform: [0, 1]}}, "
                         "found {}",
                         value.shown()));
    const bool list = value.kind == Yaml::Kind::kList;
    out.list.push_back(list ? read_choices(value, at) : read_range(value, at));
    out.list.back().name = y.keys[i];
  }
}

Yaml to_yaml(const Parameters& parameters) {
  Yaml map;
  map.kind = Yaml::Kind::kMap;
  for (const Parameter& p : parameters.list) {
    if (p.kind == Parameter::Kind::kChoice) {
      map.put(p.name, yaml_list(p.choices));
      continue;
    }
    const bool whole = p.kind == Parameter::Kind::kInteger;
    Range r;
    if (whole)
      (p.log ? r.log_integer : r.integer) = {static_cast<int64_t>(p.low),
                                             static_cast<int64_t>(p.high)};
    else
      (p.log ? r.log_uniform : r.uniform) = {p.low, p.high};
    if (p.step > (whole ? 1 : 0)) r.step = p.step;
    map.put(p.name, hone::to_yaml(r));
  }
  return map;
}

}  // namespace hone::search
