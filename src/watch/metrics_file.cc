#include "watch/metrics_file.h"

#include <nlohmann/json.hpp>

#include "base/error.h"

namespace hone::watch {

using Json = nlohmann::ordered_json;

namespace {

// A metric never hides a key that is there.
void add(Json& line, const Metrics& metrics) {
  for (const auto& [name, value] : metrics)
    if (!line.contains(name)) line[name] = value;
}

}  // namespace

MetricsFile::MetricsFile(const std::filesystem::path& path)
    : path_(path), out_(path, std::ios::app) {
  if (!out_) throw FileError("cannot write {}", path.string());
}

void MetricsFile::take(const Step& s) {
  Json line = {{"step", s.step},
               {"loss", s.loss},
               {"grad_norm", s.grad_norm},
               {"learning_rate", s.learning_rate},
               {"epoch", s.epoch},
               {"targets", s.targets},
               {"tokens_per_second", s.tokens_per_second}};
  add(line, s.metrics);
  write(line);
}

void MetricsFile::take(const Evaluation& e) {
  Json line = {
      {"kind", "evaluation"}, {"step", e.step}, {"loss", e.loss}, {"perplexity", e.perplexity}};
  add(line, e.metrics);
  write(line);
}

void MetricsFile::take(const Sample& s) {
  write({{"kind", "sample"},
         {"step", s.step},
         {"prompt", s.prompt},
         {"expected", s.expected},
         {"answer", s.answer}});
}

void MetricsFile::take(const Line& l) {
  write({{"kind", "line"}, {"step", l.step}, {"text", l.text}});
}

void MetricsFile::write(const Json& line) {
  out_ << line.dump(-1, ' ', false, Json::error_handler_t::replace) << std::endl;
  if (!out_) throw FileError("cannot write {}: is the disk full?", path_.string());
}

}  // namespace hone::watch
