#include "watch/report_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "page/plot.h"
#include "page/style.h"
#include "watch/curves.h"
#include "watch/goodput.h"

namespace hone::watch {
namespace {

using Json = nlohmann::ordered_json;
using page::escaped;

constexpr size_t kLongestText = 4000, kMostSamples = 40, kMostLines = 200;

// Not in the middle of a character.
std::string cut(std::string_view text) {
  if (text.size() <= kLongestText) return escaped(text);
  size_t n = kLongestText;
  while (n > 0 && (static_cast<unsigned char>(text[n]) & 0xc0) == 0x80) --n;
  return escaped(text.substr(0, n)) +
         fmt::format("<span class=\"soft\"> … {} bytes more</span>", text.size() - n);
}

std::optional<double> number_at(const Json& object, const char* key) {
  if (!object.is_object()) return std::nullopt;
  const auto it = object.find(key);
  if (it == object.end() || !it->is_number()) return std::nullopt;
  return it->get<double>();
}

std::optional<double> last_of(const std::vector<Series>& list, std::string_view name) {
  const Series* s = find(list, name);
  if (s == nullptr) return std::nullopt;
  for (size_t i = s->points.size(); i-- > 0;)
    if (std::isfinite(s->points[i].second)) return s->points[i].second;
  return std::nullopt;
}

std::string duration(double seconds) {
  if (seconds < 120) return fmt::format("{:.1f} s", seconds);
  if (seconds < 7200) return fmt::format("{:.1f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

std::string memory(double bytes) {
  return bytes < 1e9 ? fmt::format("{:.0f} MB", bytes / 1e6)
                     : fmt::format("{:.2f} GB", bytes / 1e9);
}

std::string section(std::string_view title, const std::string& body) {
  return body.empty() ? "" : fmt::format("<h2>{}</h2>\n{}", title, body);
}

std::string head(const RunRecord& run) {
  std::string out = page::head(run.name);
  const bool over = run.report.is_object();
  const bool stopped = over && run.report.value("stopped", Json(false)) == Json(true);
  const double steps = number_at(run.report, "steps").value_or(static_cast<double>(run.step));
  out += "<p class=\"soft\">";
  if (!run.model.empty()) out += fmt::format("{}, {} · ", escaped(run.model), escaped(run.adapter));
  const std::string all = run.steps > 0 ? fmt::format(" of {}", run.steps) : "";
  out += fmt::format("{:.0f}{} step{}", steps, all, steps == 1 && all.empty() ? "" : "s");
  out += fmt::format(" <span class=\"badge{}\">{}</span></p>\n", over && !stopped ? " good" : "",
                     stopped ? "stopped"
                     : over  ? "finished"
                             : "no report yet");
  if (run.unreadable > 0)
    out += fmt::format("<p class=\"soft\">{} lines of metrics.jsonl cannot be read.</p>\n",
                       run.unreadable);
  return out;
}

std::string tiles(const RunRecord& run) {
  std::string out;
  const auto add = [&](std::string_view name, const std::optional<double>& v, const auto& text) {
    if (v && std::isfinite(*v))
      out += fmt::format("<div class=\"tile\"><b>{}</b><span>{}</span></div>\n", text(*v), name);
  };
  const auto first = [](std::optional<double> a, std::optional<double> b) { return a ? a : b; };
  const Json& r = run.report;
  add("training loss", first(number_at(r, "train_loss"), last_of(run.training, "loss")),
      short_number);
  const auto after = first(number_at(r, "val_loss_after"), last_of(run.validation, "loss"));
  const auto before = number_at(r, "val_loss_before");
  add(before ? "validation loss, from " + short_number(*before) : "validation loss", after,
      short_number);
  add("perplexity", after, [](double v) { return short_number(std::exp(v)); });
  add("tokens a second",
      first(number_at(r, "tokens_per_second"), last_of(run.training, "tokens_per_second")),
      short_number);
  const Json goodput = r.is_object() ? r.value("goodput", Json()) : Json();
  add("of the time in steps", number_at(goodput, "goodput"),
      [](double v) { return fmt::format("{:.0f}%", 100 * v); });
  add("wall time", number_at(goodput, "wall_seconds"), duration);
  add("most memory", number_at(goodput, "peak_memory_bytes"), memory);
  return out.empty() ? "" : "<div class=\"tiles\">\n" + out + "</div>\n";
}

std::string loss(const RunRecord& run) {
  const Series* training = find(run.training, "loss");
  const Series* validation = find(run.validation, "loss");
  Points measured = validation ? validation->points : Points();
  // A run whose metrics.jsonl has no evaluations, but whose report has them.
  if (measured.empty() && run.report.is_object()) {
    if (const auto v = number_at(run.report, "val_loss_before")) measured.emplace_back(0, *v);
    if (const auto v = number_at(run.report, "val_loss_after"))
      measured.emplace_back(number_at(run.report, "steps").value_or(0), *v);
  }
  return section("Loss", loss_chart(training ? training->points : Points(), measured));
}

std::string other_curves(const RunRecord& run) {
  std::string out;
  const auto add = [&](const Series& s, const std::string& name) {
    const bool any = std::ranges::any_of(s.points, [](auto& p) { return std::isfinite(p.second); });
    if (any) out += chart(s.points, name);
  };
  const std::vector<std::pair<std::string, std::string>> known = {
      {"learning_rate", "learning rate"},
      {"grad_norm", "gradient norm"},
      {"tokens_per_second", "tokens a second"}};
  for (const auto& [key, name] : known)
    if (const Series* s = find(run.training, key)) add(*s, name);
  for (const Series& s : run.training)
    if (s.name != "loss" && s.name != "epoch" && s.name != "targets" &&
        std::ranges::find(known, s.name, &std::pair<std::string, std::string>::first) ==
            known.end())
      add(s, s.name);
  for (const Series& s : run.validation)
    if (s.name != "loss") add(s, "validation: " + s.name);
  return out.empty() ? "" : section("While it ran", "<div class=\"grid2\">\n" + out + "</div>\n");
}

std::string goodput(const RunRecord& run) {
  const Json whole = run.report.is_object() ? run.report.value("goodput", Json()) : Json();
  const Json seconds = whole.is_object() ? whole.value("seconds", Json()) : Json();
  std::string bar, legend;
  const auto seconds_of = [&](size_t i) {
    const std::string name(name_of(static_cast<Phase>(i)));
    return std::max(0.0, number_at(seconds, name.c_str()).value_or(0));
  };
  double all = 0;
  for (size_t i = 0; i < kPhases; ++i) all += seconds_of(i);
  if (!(all > 0)) return "";
  for (size_t i = 0; i < kPhases; ++i) {
    const std::string_view name = name_of(static_cast<Phase>(i));
    const double s = seconds_of(i);
    if (!(s > 0)) continue;
    bar += fmt::format("<i class=\"{0}\" style=\"flex-grow:{1:.4f}\" title=\"{0}: {2}\"></i>", name,
                       1000 * s / all, duration(s));
    legend += fmt::format("<span><i class=\"{0}\"></i>{0} {1:.1f}% ({2})</span>", name,
                          100 * s / all, duration(s));
  }
  return section(
      "Where the time went",
      fmt::format("<div class=\"bar\">{}</div>\n<div class=\"legend\">{}</div>\n", bar, legend));
}

std::string sample(const Sample& s) {
  const auto part = [](std::string_view name, std::string_view text) {
    return text.empty() ? ""
                        : fmt::format("<div><small>{}</small><pre class=\"text\">{}</pre></div>\n",
                                      name, cut(text));
  };
  return fmt::format("<div class=\"sample\"><h3>step {}</h3>\n", s.step) +
         part("prompt", s.prompt) + part("expected", s.expected) + part("answer", s.answer) +
         "</div>\n";
}

// Those of the newest step in sight, earlier ones folded away.
std::string samples(const RunRecord& run) {
  if (run.samples.empty()) return "";
  std::string newest, earlier;
  size_t count = 0;
  for (size_t i = run.samples.size(); i-- > 0 && count < kMostSamples; ++count) {
    const Sample& s = run.samples[i];
    if (s.step == run.samples.back().step)
      newest = sample(s) + newest;
    else
      earlier += sample(s);
  }
  if (!earlier.empty())
    newest += "<details><summary>Earlier samples</summary>\n" + earlier + "</details>\n";
  return section("Samples", newest);
}

std::string value_text(const Json& v) {
  if (v.is_number()) return short_number(v.get<double>());
  if (v.is_null()) return "&ndash;";
  return cut(v.is_string() ? v.get<std::string>()
                           : v.dump(-1, ' ', false, Json::error_handler_t::replace));
}

// Objects become names with dots, to the depth that a page of people's numbers has.
void add_rows(std::string& out, const Json& object, const std::string& before, int depth) {
  for (const auto& [key, value] : object.items()) {
    if (value.is_object() && depth < 4)
      add_rows(out, value, before + key + ".", depth + 1);
    else if (key != "lengths")
      out += fmt::format("<tr><td>{}</td><td>{}</td></tr>\n", escaped(before + key),
                         value_text(value));
  }
}

std::string facts(const Json& object) {
  std::string rows;
  if (object.is_object()) add_rows(rows, object, "", 0);
  if (rows.empty()) return "";
  return "<div class=\"scroll\"><table class=\"facts\"><tbody>\n" + rows +
         "</tbody></table></div>\n";
}

// A column for each set.
std::string set_table(const Json& sets) {
  std::vector<std::string> rows;
  std::string names;
  for (const auto& [name, set] : sets.items()) {
    if (!set.is_object()) return facts(sets);
    names += fmt::format("<th>{}</th>", escaped(name));
    for (const auto& [key, value] : set.items())
      if (key != "lengths" && std::ranges::find(rows, key) == rows.end()) rows.push_back(key);
  }
  std::string out;
  for (const std::string& row : rows) {
    out += fmt::format("<tr><td>{}</td>", escaped(row));
    for (const Json& set : sets)
      out += fmt::format("<td>{}</td>", value_text(set.contains(row) ? set.at(row) : Json()));
    out += "</tr>\n";
  }
  return fmt::format(
      "<div class=\"scroll\"><table class=\"facts\"><thead><tr><th></th>{}</tr></thead><tbody>\n"
      "{}</tbody></table></div>\n",
      names, out);
}

std::string data(const RunRecord& run) {
  if (!run.data.is_object()) return "";
  std::string charts;
  for (const auto& [name, set] : run.data.items()) {
    std::vector<std::pair<std::string, double>> bins;
    const Json lengths = set.is_object() ? set.value("lengths", Json()) : Json();
    for (const Json& bin : lengths)
      if (const auto upto = number_at(bin, "upto"), n = number_at(bin, "samples"); upto && n)
        bins.emplace_back(short_number(*upto), *n);
    if (!bins.empty()) charts += columns(bins, "tokens, up to", name + ": samples");
  }
  if (!charts.empty()) charts = "<div class=\"grid2\">\n" + charts + "</div>\n";
  return section("Data", set_table(run.data) + charts);
}

std::string lines(const RunRecord& run) {
  std::string out;
  const size_t n = run.lines.size();
  for (size_t i = n > kMostLines ? n - kMostLines : 0; i < n; ++i)
    out += fmt::format("{:>7}  {}\n", run.lines[i].step, cut(run.lines[i].text));
  if (out.empty()) return "";
  return "<details><summary>What the run said</summary>\n<pre class=\"text\">" + out +
         "</pre></details>\n";
}

std::string report(const RunRecord& run) {
  Json rest = run.report;
  if (!rest.is_object()) return "";
  rest.erase("data");
  return section("Report", facts(rest));
}

}  // namespace

std::string report_html(const RunRecord& run) {
  std::string out = head(run) + tiles(run) + loss(run) + other_curves(run) + goodput(run) +
                    samples(run) + data(run);
  if (!run.recipe.empty())
    out += section("Recipe", "<pre class=\"text\">" + escaped(run.recipe) + "</pre>\n");
  return out + report(run) + lines(run) + "</body></html>\n";
}

}  // namespace hone::watch
