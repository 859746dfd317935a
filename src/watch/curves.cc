#include "watch/curves.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "page/plot.h"

namespace hone::watch {
namespace {

using page::Axis;
using page::Plot;

constexpr Plot::Size kSmall{.width = 360, .height = 220};
constexpr size_t kMostDrawn = 700, kMostLooks = 160;
constexpr size_t kFewest = 30;  // points that smoothing makes clearer

Points finite(const Points& points) {
  Points out;
  for (const auto& p : points)
    if (std::isfinite(p.second)) out.push_back(p);
  return out;
}

size_t span_of(const Points& points) { return std::clamp<size_t>(points.size() / 15, 2, 200); }

// A line for each stretch without a gap; a lone point is a mark.
void draw(Plot& plot, const Points& points, const char* style, const char* tip) {
  Points stretch;
  const auto end = [&] {
    if (stretch.size() > 1) plot.line(stretch, style, tip);
    if (stretch.size() == 1) plot.mark(stretch[0].first, stretch[0].second, "plain", tip);
    stretch.clear();
  };
  for (const auto& p : points) std::isfinite(p.second) ? stretch.push_back(p) : end();
  end();
}

// All values, but for a few far above the rest: those end at the upper edge.
Axis value_axis(const Points& points) {
  std::vector<double> values;
  for (const auto& p : finite(points)) values.push_back(p.second);
  if (values.empty()) return page::number_axis(0, 1, false);
  std::ranges::sort(values);
  const double low = values.front(), usual = values[values.size() - 1 - (values.size() - 1) / 100];
  const double high = values.back() > low + 2 * (usual - low) ? usual : values.back();
  const double room = 0.05 * (high - low);
  return page::number_axis(low >= 0 ? std::max(0.0, low - room) : low - room, high + room, false);
}

Axis step_axis(const Points& a, const Points& b, size_t most_ticks) {
  double low = INFINITY, high = -INFINITY;
  for (const Points* points : {&a, &b})
    for (const auto& p : *points) {
      low = std::min(low, p.first);
      high = std::max(high, p.first);
    }
  if (!(low <= high)) return page::number_axis(0, 1, false);
  if (low > 0 && low <= 0.2 * high) low = 0;
  if (low == high) {
    --low;
    ++high;
  }
  Axis axis = page::number_axis(low, high, false);
  std::erase_if(axis.ticks, [](const auto& tick) { return tick.first != std::floor(tick.first); });
  while (axis.ticks.size() > most_ticks) {
    size_t i = 0;
    std::erase_if(axis.ticks, [&](const auto&) { return i++ % 2 == 1; });
  }
  return axis;
}

Points every_nth(const Points& points, size_t most) {
  const size_t n = (points.size() + most - 1) / std::max<size_t>(1, most);
  Points out;
  for (size_t i = 0; i < points.size(); ++i)
    if (n <= 1 || i % n == 0 || i + 1 == points.size()) out.push_back(points[i]);
  return out;
}

void add_looks(Plot& plot, const Points& points, const std::string& name) {
  const Points shown = every_nth(finite(points), kMostLooks);
  std::vector<std::string> texts;
  for (const auto& [step, value] : shown)
    texts.push_back(fmt::format("step {:.0f}: {} {}", step, name, short_number(value)));
  plot.looks(shown, texts);
}

std::string loss_plot(const Points& training, const Points& measured, Plot::Size size,
                      size_t most_ticks) {
  const Points known = finite(training);
  Points all = known;
  all.insert(all.end(), measured.begin(), measured.end());
  Plot plot(size, step_axis(known, measured, most_ticks), value_axis(all));
  const bool smooth = known.size() >= kFewest;
  draw(plot, thinned(training, kMostDrawn), smooth ? "raw" : "smooth", "training loss");
  if (smooth)
    draw(plot, every_nth(smoothed(training), kMostDrawn), "smooth", "training loss, smoothed");
  if (measured.size() > 2) plot.line(measured, "valid", "validation loss");
  add_looks(plot, training, "training");
  for (const auto& [step, value] : every_nth(measured, kMostLooks))
    plot.mark(step, value, "valid",
              fmt::format("step {:.0f}: validation loss {}", step, short_number(value)));
  return plot.svg("step", "loss");
}

std::string no_values(const std::string& name) {
  return fmt::format("<p class=\"soft\">{}: no value yet.</p>\n", page::escaped(name));
}

}  // namespace

std::string short_number(double v) {
  if (!std::isfinite(v)) return "&ndash;";
  const double size = std::abs(v);
  if (size != 0 && (size < 1e-3 || size >= 1e9)) return fmt::format("{:.3g}", v);
  if (size < 1000) return v == std::floor(v) ? fmt::format("{:.0f}", v) : fmt::format("{:.4g}", v);
  std::string digits = fmt::format("{:.0f}", size);
  for (size_t at = digits.size(); at > 3;) digits.insert(at -= 3, ",");
  return (v < 0 ? "-" : "") + digits;
}

Points smoothed(const Points& points) {
  const double keep = 1 - 2 / (static_cast<double>(span_of(finite(points))) + 1);
  Points out;
  double mean = 0, weight = 0;
  for (const auto& [step, value] : points) {
    if (std::isfinite(value)) {
      mean = keep * mean + (1 - keep) * value;
      weight = keep * weight + (1 - keep);
    }
    out.emplace_back(step, std::isfinite(value) ? mean / weight : NAN);
  }
  return out;
}

Points thinned(const Points& points, size_t most) {
  if (points.size() <= most) return points;
  const size_t stretch = (2 * points.size() + most - 1) / most;
  Points out;
  for (size_t from = 0; from < points.size(); from += stretch) {
    const auto begin = points.begin() + static_cast<std::ptrdiff_t>(from);
    const auto end =
        points.begin() + static_cast<std::ptrdiff_t>(std::min(points.size(), from + stretch));
    const auto gap = std::find_if(begin, end, [](const auto& p) { return std::isnan(p.second); });
    if (gap != end) {
      out.push_back(*gap);
      continue;
    }
    auto [low, high] = std::minmax_element(
        begin, end, [](const auto& a, const auto& b) { return a.second < b.second; });
    if (high < low) std::swap(low, high);
    out.push_back(*low);
    if (high != low) out.push_back(*high);
  }
  return out;
}

std::string loss_chart(const Points& training, const Points& validation) {
  const Points known = finite(training), measured = finite(validation);
  if (known.empty() && measured.empty()) return no_values("loss");
  std::string legend = "<span><i class=\"step\"></i>training";
  if (known.size() >= kFewest)
    legend += fmt::format(" (bold: smoothed over about {} points)", span_of(known));
  legend += "</span>";
  if (!measured.empty()) legend += "<span><i class=\"evaluation\"></i>validation</span>";
  return fmt::format(
      "<div class=\"legend\">{}</div>\n<div class=\"broad\">{}</div>\n"
      "<div class=\"narrow\">{}</div>\n",
      legend, loss_plot(training, measured, {.width = 900, .height = 320}, 13),
      loss_plot(training, measured, {.width = 400, .height = 280}, 7));
}

std::string chart(const Points& points, const std::string& name) {
  const Points known = finite(points);
  if (known.empty()) return no_values(name);
  Plot plot(kSmall, step_axis(known, {}, 7), value_axis(known));
  draw(plot, thinned(points, kMostDrawn), "plain", name.c_str());
  add_looks(plot, points, name);
  return "<div>" + plot.svg("step", name) + "</div>\n";
}

std::string columns(const std::vector<std::pair<std::string, double>>& values,
                    const std::string& x_name, const std::string& y_name) {
  double most = 0;
  std::vector<std::string> names;
  for (const auto& [name, value] : values) {
    most = std::max(most, value);
    const size_t apart = (values.size() + 5) / 6;
    names.push_back(names.size() % apart == 0 ? name : "");
  }
  Plot plot(kSmall, page::name_axis(names),
            page::number_axis(0, most > 0 ? 1.05 * most : 1, false));
  for (size_t i = 0; i < values.size(); ++i)
    plot.column(static_cast<double>(i), values[i].second,
                fmt::format("up to {}: {}", values[i].first, short_number(values[i].second)));
  return "<div>" + plot.svg(x_name, y_name) + "</div>\n";
}

}  // namespace hone::watch
