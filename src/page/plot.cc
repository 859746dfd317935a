#include "page/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace hone::page {
namespace {

// Around the plotted area, in the units of Size.
constexpr double kLeft = 58, kRight = 14, kTop = 22, kBottom = 40;

// "25000" rather than "2.5e+04".
std::string tick_text(double value) {
  const bool whole = std::abs(value) >= 1e4 && std::abs(value) < 1e7 && value == std::floor(value);
  return whole ? fmt::format("{:.0f}", value) : fmt::format("{:.4g}", value);
}

// The largest of 1, 2, 5 times a power of ten that cuts the range into five parts or more.
double round_step(double range) {
  const double rough = range / 5, power = std::pow(10, std::floor(std::log10(rough)));
  for (const double m : {5.0, 2.0})
    if (m * power <= rough) return m * power;
  return power;
}

void add_linear_ticks(Axis& a) {
  const double step = round_step(a.high - a.low);
  for (double i = std::ceil(a.low / step); i * step <= a.high + step * 1e-9; ++i)
    a.ticks.emplace_back(i * step, tick_text(i * step + 0.0));  // + 0.0: no "-0"
}

void add_log_ticks(Axis& a) {
  const bool few = std::log10(a.high / a.low) < 3;
  for (double power = std::pow(10, std::floor(std::log10(a.low))); power <= a.high; power *= 10)
    for (const double m : {1.0, 2.0, 5.0})
      if ((m == 1 || few) && a.holds(m * power))
        a.ticks.emplace_back(m * power, tick_text(m * power));
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  return out;
}

double Axis::share(double value) const {
  const double v = std::clamp(value, low, high);
  return log ? std::log(v / low) / std::log(high / low) : (v - low) / (high - low);
}

Axis number_axis(double low, double high, bool log) {
  // One value, or two that doubles can hardly tell apart: some room around it.
  if (!(high - low > 1e-9 * std::max(std::abs(low), std::abs(high)))) {
    const double room = low == 0 ? 1 : std::abs(low) * 0.1;
    low -= room;
    high += room;
  }
  Axis a{.low = low, .high = high, .log = log};
  log&& high >= 10 * low ? add_log_ticks(a) : add_linear_ticks(a);
  return a;
}

Axis name_axis(std::span<const std::string> names) {
  Axis a{.low = -0.5, .high = static_cast<double>(names.size()) - 0.5};
  for (size_t i = 0; i < names.size(); ++i) a.ticks.emplace_back(static_cast<double>(i), names[i]);
  return a;
}

std::pair<double, double> usual_range(std::vector<double> values) {
  if (values.empty()) return {0, 1};
  std::ranges::sort(values);
  const double low = values[values.size() / 4], high = values[values.size() * 3 / 4];
  const double reach = 1.5 * (high - low);
  const auto inside = [&](double v) { return v >= low - reach && v <= high + reach; };
  const auto first = std::ranges::find_if(values, inside);
  const auto last = std::find_if(values.rbegin(), values.rend(), inside);
  const double room = 0.04 * (*last - *first);
  return {*first - room, *last + room};
}

double Plot::at_x(double x) const { return kLeft + x_.share(x) * (size_.width - kLeft - kRight); }
double Plot::at_y(double y) const {
  return size_.height - kBottom - y_.share(y) * (size_.height - kTop - kBottom);
}

void Plot::mark(double x, double y, std::string_view style, std::string_view tip) {
  const double px = at_x(x), py = at_y(y);
  const std::string title = tip.empty() ? "" : fmt::format("<title>{}</title>", escaped(tip));
  if (y_.holds(y))
    body_ += fmt::format("<circle class=\"{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\">{}</circle>\n",
                         style, px, py, title);
  else
    body_ += fmt::format("<path class=\"{}\" d=\"M{:.1f} {:.1f}l5 {}h-10z\">{}</path>\n", style, px,
                         py, y > y_.high ? 8 : -8, title);
}

void Plot::line(std::span<const std::pair<double, double>> points, std::string_view style,
                std::string_view tip) {
  std::string path;
  for (const auto& [x, y] : points)
    path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", at_x(x), at_y(y));
  body_ += fmt::format("<path class=\"line {}\" d=\"{}\"><title>{}</title></path>\n", style, path,
                       escaped(tip));
}

void Plot::column(double x, double y, std::string_view tip) {
  const double left = at_x(x - 0.4), top = at_y(y);
  body_ += fmt::format(
      "<rect class=\"column\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\">"
      "<title>{}</title></rect>\n",
      left, top, at_x(x + 0.4) - left, size_.height - kBottom - top, escaped(tip));
}

void Plot::looks(std::span<const std::pair<double, double>> points,
                 std::span<const std::string> texts) {
  const double right = size_.width - kRight, bottom = size_.height - kBottom;
  for (size_t i = 0; i < points.size(); ++i) {
    const double x = at_x(points[i].first), y = at_y(points[i].second);
    if (!std::isfinite(x) || !std::isfinite(y)) continue;
    const double from = i == 0 ? kLeft : (at_x(points[i - 1].first) + x) / 2;
    const double upto = i + 1 == points.size() ? right : (x + at_x(points[i + 1].first)) / 2;
    body_ += fmt::format(
        "<g class=\"look\"><rect x=\"{:.1f}\" y=\"{}\" width=\"{:.1f}\" height=\"{}\"/>"
        "<path d=\"M{:.1f} {}V{}\"/><circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.5\"/>"
        "<text class=\"end\" x=\"{}\" y=\"13\">{}</text></g>\n",
        from, kTop, std::max(0.0, upto - from), bottom - kTop, x, kTop, bottom, x, y, right,
        escaped(texts[i]));
  }
}

std::string Plot::axes() const {
  const double bottom = size_.height - kBottom, right = size_.width - kRight;
  std::string out;
  for (const auto& [value, label] : y_.ticks)
    out += fmt::format(
        "<path class=\"grid\" d=\"M{} {:.1f}H{}\"/><text class=\"end\" x=\"{}\" "
        "y=\"{:.1f}\">{}</text>\n",
        kLeft, at_y(value), right, kLeft - 7, at_y(value) + 4, escaped(label));
  for (const auto& [value, label] : x_.ticks)
    out += fmt::format(
        "<path class=\"axis\" d=\"M{:.1f} {}v4\"/><text class=\"middle\" x=\"{:.1f}\" "
        "y=\"{}\">{}</text>\n",
        at_x(value), bottom, at_x(value), bottom + 17, escaped(label));
  return out + fmt::format("<path class=\"axis\" d=\"M{} {}H{}\"/>\n", kLeft, bottom, right);
}

std::string Plot::svg(std::string_view x_label, std::string_view y_label) const {
  return fmt::format(
      "<svg viewBox=\"0 0 {0} {1}\" role=\"img\" aria-label=\"{3} by {2}\">\n{4}{5}"
      "<text class=\"middle name\" x=\"{6}\" y=\"{7}\">{2}</text>"
      "<text class=\"name\" x=\"4\" y=\"13\">{3}</text>\n</svg>\n",
      size_.width, size_.height, escaped(x_label), escaped(y_label), axes(), body_,
      (kLeft + size_.width - kRight) / 2, size_.height - 6);
}

}  // namespace hone::page
