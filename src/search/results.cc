#include "search/results.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace hone::search {
namespace {

using Row = std::vector<std::string>;

constexpr size_t kFewest = 10;  // trials of a correlation

std::string cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

// Columns as wide as their widest cell, to the right; the last one to the left.
std::string aligned(const std::vector<Row>& rows) {
  std::vector<size_t> widths(rows.front().size());
  for (const Row& row : rows)
    for (size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
  std::string out;
  for (const Row& row : rows) {
    std::string line;
    for (size_t c = 0; c + 1 < row.size(); ++c) line += fmt::format("{:>{}}  ", row[c], widths[c]);
    out += line + row.back() + "\n";
  }
  return out;
}

// Mean ranks, equal values sharing theirs.
std::vector<double> ranks(const std::vector<double>& values) {
  std::vector<double> out;
  for (const double v : values) {
    const auto below = std::ranges::count_if(values, [&](double x) { return x < v; });
    const auto equal = std::ranges::count(values, v);
    out.push_back(static_cast<double>(below) + static_cast<double>(equal - 1) / 2);
  }
  return out;
}

std::optional<double> correlation(const std::vector<double>& a, const std::vector<double>& b) {
  const auto mean = [](const std::vector<double>& v) {
    double sum = 0;
    for (const double x : v) sum += x;
    return sum / static_cast<double>(v.size());
  };
  const double mean_a = mean(a), mean_b = mean(b);
  double ab = 0, aa = 0, bb = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    ab += (a[i] - mean_a) * (b[i] - mean_b);
    aa += (a[i] - mean_a) * (a[i] - mean_a);
    bb += (b[i] - mean_b) * (b[i] - mean_b);
  }
  if (aa == 0 || bb == 0) return std::nullopt;
  return ab / std::sqrt(aa * bb);
}

nlohmann::ordered_json json_of(const Space& space, const Trial& t) {
  nlohmann::ordered_json j = {{"id", t.id}, {"state", name_of(t.state)}, {"value", nullptr}};
  if (t.value) j["value"] = *t.value;
  j["steps"] = t.steps;
  for (size_t i = 0; i < t.numbers.size(); ++i) {
    const Parameter& p = space.parameters.list[i];
    if (p.kind == Parameter::Kind::kChoice)
      j["parameters"][p.name] = p.text(t.numbers[i]);  // YAML, as the recipe reads it
    else if (p.kind == Parameter::Kind::kInteger)
      j["parameters"][p.name] = static_cast<int64_t>(t.numbers[i]);
    else
      j["parameters"][p.name] = t.numbers[i];
  }
  j["measurements"] = nlohmann::ordered_json::array();
  for (const Measurement& m : t.measurements)
    j["measurements"].push_back({{"step", m.step}, {"value", m.value}});
  j["metrics"] = nlohmann::ordered_json(t.metrics);
  j["started"] = t.started;
  j["seconds"] = t.seconds;
  j["note"] = t.note;
  return j;
}

}  // namespace

std::string short_number(double value) { return fmt::format("{:.5g}", value); }

std::string short_value(const Parameter& p, double number) {
  return p.kind == Parameter::Kind::kReal ? fmt::format("{:.4g}", number) : p.text(number);
}

std::string count_text(std::span<const Trial> trials) {
  std::vector<std::string> parts;
  for (const State state : {State::kComplete, State::kStopped, State::kFailed})
    if (const auto n = std::ranges::count(trials, state, &Trial::state); n > 0)
      parts.push_back(fmt::format("{} {}", n, name_of(state)));
  return fmt::format("{} trial{}: {}", trials.size(), trials.size() == 1 ? "" : "s",
                     fmt::join(parts, ", "));
}

std::string table_text(const Space& space, std::span<const Trial> trials) {
  const Trial* best = best_of(space, trials);
  Row head = {"", "trial", space.objective.metric};
  for (const Parameter& p : space.parameters.list) head.push_back(p.name);
  head.insert(head.end(), {"steps", "seconds", "state"});
  std::vector<Row> rows = {head};
  for (const size_t i : ranking(space, trials)) {
    const Trial& t = trials[i];
    Row row = {&t == best ? "*" : "", std::to_string(t.id), t.value ? short_number(*t.value) : "-"};
    for (size_t p = 0; p < t.numbers.size(); ++p)
      row.push_back(short_value(space.parameters.list[p], t.numbers[p]));
    row.push_back(std::to_string(t.steps));
    row.push_back(fmt::format("{:.1f}", t.seconds));
    row.push_back(std::string(name_of(t.state)) + (t.note.empty() ? "" : ": " + t.note));
    rows.push_back(row);
  }
  return aligned(rows);
}

std::string csv_text(const Space& space, std::span<const Trial> trials) {
  Row head = {"trial"};
  for (const Parameter& p : space.parameters.list) head.push_back(cell(p.name));
  head.insert(head.end(), {cell(space.objective.metric), "steps", "state", "started", "seconds"});
  std::string out = fmt::format("{}\r\n", fmt::join(head, ","));
  for (const Trial& t : trials) {
    Row row = {std::to_string(t.id)};
    for (size_t p = 0; p < t.numbers.size(); ++p)
      row.push_back(cell(space.parameters.list[p].text(t.numbers[p])));
    row.push_back(t.value ? fmt::format("{}", *t.value) : "");
    row.insert(row.end(), {std::to_string(t.steps), std::string(name_of(t.state)), cell(t.started),
                           fmt::format("{:.3f}", t.seconds)});
    out += fmt::format("{}\r\n", fmt::join(row, ","));
  }
  return out;
}

std::string json_text(const Space& space, std::span<const Trial> trials) {
  nlohmann::ordered_json j = {{"metric", space.objective.metric},
                              {"goal", space.objective.goal},
                              {"method", space.method},
                              {"seed", space.seed},
                              {"best", nullptr}};
  if (const Trial* best = best_of(space, trials)) j["best"] = best->id;
  j["ranking"] = nlohmann::ordered_json::array();
  for (const size_t i : ranking(space, trials)) j["ranking"].push_back(trials[i].id);
  j["trials"] = nlohmann::ordered_json::array();
  for (const Trial& t : trials) j["trials"].push_back(json_of(space, t));
  // What was quoted from foreign files in a note may be no UTF-8.
  return j.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

std::optional<double> rank_correlation(const Space& space, std::span<const Trial> trials,
                                       size_t parameter) {
  if (space.parameters.list[parameter].kind == Parameter::Kind::kChoice) return std::nullopt;
  std::vector<double> numbers, values;
  for (const Trial& t : trials) {
    if (t.state != State::kComplete || !t.value) continue;
    numbers.push_back(t.numbers[parameter]);
    values.push_back(*t.value);
  }
  if (values.size() < kFewest) return std::nullopt;
  return correlation(ranks(numbers), ranks(values));
}

}  // namespace hone::search
