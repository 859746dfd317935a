// A run's folder as it was written, read for people: whatever is missing, cut or no number is left
// out, for a run may be in progress or may have been killed.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "watch/events.h"

namespace hone::watch {

using Points = std::vector<std::pair<double, double>>;  // step and value; NaN is a gap

struct Series {
  std::string name;
  Points points;  // steps rise
};

struct RunRecord {
  std::string name;              // of the folder
  std::vector<Series> training;  // "loss", "grad_norm"... as metrics.jsonl names them
  std::vector<Series> validation;
  std::vector<Sample> samples;
  std::vector<Line> lines;
  int64_t unreadable = 0;         // lines of metrics.jsonl
  int64_t step = 0, steps = 0;    // newest; of the recipe, 0 where it does not say
  std::string recipe;             // its text; "" where there is none
  std::string model, adapter;     // of the recipe
  nlohmann::ordered_json report;  // report.json, null where there is none
  nlohmann::ordered_json data;    // data.json, or what report.json has as "data"
};

const Series* find(const std::vector<Series>& list, std::string_view name);

// Throws FileError when the folder holds neither metrics.jsonl nor recipe.yaml.
RunRecord read_run(const std::filesystem::path& folder);

}  // namespace hone::watch
