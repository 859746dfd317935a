#include "watch/run_record.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>

#include "base/error.h"
#include "base/json.h"
#include "base/yaml.h"

namespace hone::watch {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// Beyond this a plot's arithmetic overflows.
constexpr double kLargest = 1e300;

double number(const Json& value) {
  const double v = value.is_number() ? value.get<double>() : NAN;
  return std::abs(v) < kLargest ? v : NAN;
}

std::string text(const Json& line, const char* key) {
  const auto it = line.find(key);
  return it != line.end() && it->is_string() ? it->get<std::string>() : "";
}

Series& series(std::vector<Series>& list, const std::string& name) {
  const auto it = std::ranges::find(list, name, &Series::name);
  return it != list.end() ? *it : list.emplace_back(Series{name, {}});
}

void add_numbers(std::vector<Series>& list, int64_t step, const Json& line) {
  for (const auto& [key, value] : line.items())
    if (key != "step" && (value.is_number() || value.is_null()))
      series(list, key).points.emplace_back(static_cast<double>(step), number(value));
}

void add_line(RunRecord& run, const std::string& text_of_line) try {
  const Json line = parse_ordered_json(text_of_line, "metrics.jsonl");
  const auto step = line.at("step").get<int64_t>();
  const std::string kind = text(line, "kind");
  if (kind.empty()) {
    add_numbers(run.training, step, line);
    run.step = std::max(run.step, step);
  } else if (kind == "evaluation") {
    add_numbers(run.validation, step, line);
  } else if (kind == "sample") {
    run.samples.push_back(
        {step, text(line, "prompt"), text(line, "expected"), text(line, "answer")});
  } else if (kind == "line") {
    run.lines.push_back({step, text(line, "text")});
  }
} catch (const std::exception&) {
  ++run.unreadable;
}

// A run that went on from an earlier step says some steps again: the last word counts.
void put_in_order(std::vector<Series>& list) {
  for (Series& s : list) {
    std::ranges::stable_sort(s.points, {}, &Points::value_type::first);
    Points once;
    for (const auto& p : s.points) {
      if (!once.empty() && once.back().first == p.first) once.pop_back();
      once.push_back(p);
    }
    s.points = std::move(once);
  }
}

std::string read_text(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

Json read_if_there(const fs::path& path) try {
  return fs::exists(path) ? parse_ordered_json(read_text(path), path.string()) : Json();
} catch (const Error&) {
  return {};
}

void read_recipe(RunRecord& run) try {
  const Yaml recipe = parse_yaml(run.recipe, "recipe.yaml");
  const auto at = [](const Yaml* y, std::string_view key) { return y ? y->find(key) : nullptr; };
  if (const Yaml* model = at(&recipe, "model")) run.model = model->text;
  const Yaml* adapter = recipe.find("adapter");
  if (const Yaml* kind = at(adapter, "kind")) run.adapter = kind->text;
  if (const Yaml* rank = at(adapter, "rank")) run.adapter += " of rank " + rank->text;
  if (const Yaml* steps = at(recipe.find("length"), "steps"))
    run.steps = std::strtoll(steps->text.c_str(), nullptr, 10);
} catch (const Error&) {  // shown as it is
}

}  // namespace

const Series* find(const std::vector<Series>& list, std::string_view name) {
  const auto it = std::ranges::find(list, name, &Series::name);
  return it != list.end() ? &*it : nullptr;
}

RunRecord read_run(const fs::path& folder) {
  if (!fs::exists(folder / "metrics.jsonl") && !fs::exists(folder / "recipe.yaml"))
    throw FileError("{} is no run: it has neither metrics.jsonl nor recipe.yaml", folder.string());
  RunRecord run;
  run.name = fs::weakly_canonical(folder).filename().string();
  std::ifstream in(folder / "metrics.jsonl", std::ios::binary);
  for (std::string line; std::getline(in, line);)
    if (!in.eof()) add_line(run, line);  // a last line without its end is still being written
  put_in_order(run.training);
  put_in_order(run.validation);
  run.recipe = read_text(folder / "recipe.yaml");
  read_recipe(run);
  run.report = read_if_there(folder / "report.json");
  if (!run.report.is_object()) run.report = Json();
  run.data = read_if_there(folder / "data.json");
  if (!run.data.is_object() && run.report.is_object()) run.data = run.report.value("data", Json());
  return run;
}

}  // namespace hone::watch
