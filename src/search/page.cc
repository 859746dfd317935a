#include "search/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "page/plot.h"
#include "page/style.h"
#include "search/halving.h"
#include "search/results.h"

namespace hone::search {
namespace {

using page::Axis, page::escaped, page::name_axis, page::number_axis, page::Plot, page::usual_range;
using Points = std::vector<std::pair<double, double>>;

struct Study {
  const Space& space;
  std::span<const Trial> trials;
  const Trial* best;
  Axis values;  // of the objective

  std::string tip(const Trial& t) const {
    std::string text = fmt::format("trial {} ({}): {}", t.id, name_of(t.state),
                                   t.value ? short_number(*t.value) : "no value");
    for (size_t i = 0; i < t.numbers.size(); ++i) {
      const Parameter& p = space.parameters.list[i];
      text += fmt::format("\n{} {}", p.name, short_value(p, t.numbers[i]));
    }
    return text;
  }
  std::string_view style(const Trial& t) const { return &t == best ? "best" : name_of(t.state); }
};

Axis value_axis(std::span<const Trial> trials) {
  std::vector<double> values;
  for (const Trial& t : trials)
    if (t.value) values.push_back(*t.value);
  const auto [low, high] = usual_range(values);
  return number_axis(low, high, false);
}

void add_marks(Plot& plot, const Study& s, const auto& x_of) {
  const auto add = [&](const Trial& t) {
    if (t.value) plot.mark(x_of(t), *t.value, s.style(t), s.tip(t));
  };
  for (const Trial& t : s.trials)
    if (&t != s.best) add(t);
  if (s.best != nullptr) add(*s.best);  // over the others
}

// A narrow screen scrolls it instead of shrinking its letters.
std::string wide(const std::string& svg) { return "<div class=\"wide\">" + svg + "</div>\n"; }

// The best complete trial so far, as steps of a staircase.
std::string history(const Study& s) {
  const auto last = static_cast<double>(s.trials.size()) - 1;
  Plot plot({.width = 900, .height = 300}, number_axis(-0.5, last + 0.5, false), s.values);
  Points stairs;
  for (const Trial& t : s.trials) {
    if (t.state != State::kComplete || !t.value) continue;
    const auto id = static_cast<double>(t.id);
    if (stairs.empty()) stairs.emplace_back(id, *t.value);
    const double before = stairs.back().second;
    if (!s.space.better(*t.value, before)) continue;
    stairs.emplace_back(id, before);
    stairs.emplace_back(id, *t.value);
  }
  if (!stairs.empty()) {
    stairs.emplace_back(last, stairs.back().second);
    plot.line(stairs, "top", "best complete trial so far");
  }
  add_marks(plot, s, [](const Trial& t) { return static_cast<double>(t.id); });
  return "<h2>History</h2>\n<p class=\"soft\">The value of each trial, and the best complete one "
         "so "
         "far.</p>\n" +
         wide(plot.svg("trial", s.space.objective.metric));
}

std::string curves(const Study& s) {
  double first = INFINITY, last = 0;
  for (const Trial& t : s.trials)
    for (const Measurement& m : t.measurements) {
      first = std::min(first, static_cast<double>(m.step));
      last = std::max({last, static_cast<double>(m.step), static_cast<double>(t.steps)});
    }
  if (!(first < last) || first <= 0) return "";
  std::vector<double> all;
  for (const Trial& t : s.trials)
    for (const Measurement& m : t.measurements) all.push_back(m.value);
  const auto [low, high] = usual_range(all);
  Axis steps = number_axis(0.93 * first, 1.04 * last, true);
  if (const std::vector<int64_t> rungs = rungs_of(s.space); !rungs.empty()) {
    steps.ticks.clear();
    for (const int64_t rung : rungs)
      steps.ticks.emplace_back(static_cast<double>(rung), std::to_string(rung));
    steps.ticks.emplace_back(last, fmt::format("{:.0f}", last));
  }
  Plot plot({.width = 900, .height = 300}, steps,
            number_axis(std::min(low, s.values.low), std::max(high, s.values.high), false));
  const auto draw = [&](const Trial& t) {
    Points points;
    for (const Measurement& m : t.measurements)
      points.emplace_back(static_cast<double>(m.step), m.value);
    if (t.state == State::kComplete && t.value &&
        (points.empty() || points.back().first < static_cast<double>(t.steps)))
      points.emplace_back(static_cast<double>(t.steps), *t.value);
    if (points.size() > 1) plot.line(points, &t == s.best ? "top" : "all", s.tip(t));
    for (const auto& [x, y] : points) plot.mark(x, y, s.style(t), s.tip(t));
  };
  for (const Trial& t : s.trials)
    if (&t != s.best) draw(t);
  if (s.best != nullptr) draw(*s.best);
  return "<h2>While they ran</h2>\n<p class=\"soft\">The objective at each look; lines that end "
         "early were stopped there.</p>\n" +
         wide(plot.svg("step (logarithmic)", s.space.objective.metric));
}

std::string slice(const Study& s, size_t parameter) {
  const Parameter& p = s.space.parameters.list[parameter];
  Axis axis;
  std::string label = p.name;
  if (p.kind == Parameter::Kind::kChoice) {
    std::vector<std::string> names;
    for (int64_t i = 0; i < p.count(); ++i) {
      names.push_back(p.text(p.at(i)));
      const size_t longest = 40 / static_cast<size_t>(p.count()) + 3;
      if (names.back().size() > longest) names.back() = fmt::format("#{}", i + 1);
    }
    axis = name_axis(names);
  } else {
    const double room = p.log ? 0 : 0.03 * (p.high - p.low);
    axis = number_axis(p.low - room, p.high + room, p.log);
    if (p.log) label += " (logarithmic)";
  }
  Plot plot({.width = 360, .height = 230}, axis, s.values);
  add_marks(plot, s, [&](const Trial& t) { return t.numbers[parameter]; });
  std::string out = "<div>" + plot.svg(label, s.space.objective.metric);
  if (const auto r = rank_correlation(s.space, s.trials, parameter))
    out += fmt::format("<p class=\"soft\">rank correlation {:+.2f}</p>", *r);
  return out + "</div>\n";
}

std::string slices(const Study& s) {
  std::string out =
      "<h2>By parameter</h2>\n<p class=\"soft\">Filled: complete. Hollow: stopped early, so its "
      "value is of fewer steps. A triangle lies beyond the axis. The rank correlation (Spearman, "
      "complete trials, from ten on) sees one parameter at a time and says nothing of how they "
      "work together.</p>\n<div class=\"grid2\">\n";
  for (size_t i = 0; i < s.space.parameters.list.size(); ++i) out += slice(s, i);
  return out + "</div>\n";
}

std::string table(const Study& s) {
  std::string out = fmt::format(
      "<h2>Trials, best first</h2>\n<div class=\"scroll\"><table><thead><tr><th>trial</th>"
      "<th>{}</th>",
      escaped(s.space.objective.metric));
  for (const Parameter& p : s.space.parameters.list)
    out += fmt::format("<th>{}</th>", escaped(p.name));
  out += "<th>steps</th><th>seconds</th><th>state</th></tr></thead><tbody>\n";
  for (const size_t i : ranking(s.space, s.trials)) {
    const Trial& t = s.trials[i];
    out += fmt::format("<tr{}><td>{}</td><td>{}</td>", &t == s.best ? " class=\"best\"" : "", t.id,
                       t.value ? short_number(*t.value) : "&ndash;");
    for (size_t p = 0; p < t.numbers.size(); ++p)
      out += fmt::format("<td>{}</td>",
                         escaped(short_value(s.space.parameters.list[p], t.numbers[p])));
    out += fmt::format("<td>{}</td><td>{:.1f}</td><td>{}{}</td></tr>\n", t.steps, t.seconds,
                       name_of(t.state), t.note.empty() ? "" : ": " + escaped(t.note));
  }
  return out + "</tbody></table></div>\n";
}

std::string summary(const Study& s) {
  const Space& space = s.space;
  std::string out =
      fmt::format("<p>{}. {}, {} is better.</p>\n", count_text(s.trials),
                  escaped(space.objective.metric), space.minimises() ? "less" : "more");
  std::string how = fmt::format("method {}, seed {}", space.method, space.seed);
  if (space.halves()) {
    how += fmt::format(", values by {}", space.sampler.value_or("tpe"));
    how += fmt::format(", one in {} goes on after {} steps", space.rungs.factor,
                       fmt::join(rungs_of(space), ", "));
  }
  out += fmt::format("<p class=\"soft\">{}</p>\n", how);
  if (s.best == nullptr) return out + "<p>No trial has a value.</p>\n";
  out += fmt::format("<p>Best: trial {} with {}, after {} steps.</p>\n<pre>", s.best->id,
                     short_number(*s.best->value), s.best->steps);
  for (size_t i = 0; i < s.best->numbers.size(); ++i) {
    const Parameter& p = space.parameters.list[i];
    out += escaped(fmt::format("{}={}\n", p.name, p.text(s.best->numbers[i])));
  }
  return out + "</pre>\n";
}

}  // namespace

std::string page_html(const Space& space, std::span<const Trial> trials, const std::string& title) {
  const Study s{space, trials, best_of(space, trials), value_axis(trials)};
  std::string html = page::head(title) + summary(s);
  if (s.best != nullptr) html += history(s) + curves(s) + slices(s);
  return html + table(s) + "</body></html>\n";
}

}  // namespace hone::search
