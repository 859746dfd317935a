// Plots as SVG text, for pages that carry their own style sheet: classes instead of colours.
//
//   Plot plot({.width = 640, .height = 280}, number_axis(0, 24, false), number_axis(1, 3, false));
//   plot.line({{0, 2.5}, {4, 1.9}}, "best", "");
//   plot.mark(4, 1.9, "complete", "trial 4: 1.9");
//   page += plot.svg("trial", "val_loss");
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hone::page {

std::string escaped(std::string_view text);  // for HTML, attributes included

struct Axis {
  double low = 0, high = 1;
  bool log = false;
  std::vector<std::pair<double, std::string>> ticks = {};

  double share(double value) const;  // 0 at low, 1 at high; held within both
  bool holds(double value) const { return value >= low && value <= high; }
};

// Ticks at round numbers; of a logarithmic axis at powers of ten, and between them where few.
Axis number_axis(double low, double high, bool log);
Axis name_axis(std::span<const std::string> names);  // 0, 1, ...

// From the lowest to the highest value, without those that lie far from the rest (Tukey's fences:
// more than 1.5 times the middle half's spread beyond it).
std::pair<double, double> usual_range(std::vector<double> values);

class Plot {
 public:
  struct Size {
    double width = 640, height = 280;
  };
  Plot(Size size, Axis x, Axis y) : size_(size), x_(std::move(x)), y_(std::move(y)) {}

  // `style` is a class of the page. What lies beyond an axis is a triangle at its end.
  void mark(double x, double y, std::string_view style, std::string_view tip);
  void line(std::span<const std::pair<double, double>> points, std::string_view style,
            std::string_view tip);

  // From the lower end of y up to the value; as wide as 0.8 of x.
  void column(double x, double y, std::string_view tip);
  // A place around each point that, when pointed at, shows the point and its text.
  // In order of x; not numbers are left out.
  void looks(std::span<const std::pair<double, double>> points, std::span<const std::string> texts);

  std::string svg(std::string_view x_label, std::string_view y_label) const;

 private:
  double at_x(double x) const;
  double at_y(double y) const;
  std::string axes() const;

  Size size_;
  Axis x_, y_;
  std::string body_;
};

}  // namespace hone::page
