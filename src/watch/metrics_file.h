// metrics.jsonl: one object a line, on the disk's side of the program when take() returns.
//
//   {"step":10,"loss":0.69,"grad_norm":...,"learning_rate":...,"epoch":...,"targets":...,
//    "tokens_per_second":...}                                a step; the objective's metrics follow
//   {"kind":"evaluation","step":10,"loss":...,"perplexity":...}      and the objective's metrics
//   {"kind":"sample","step":10,"prompt":"...","expected":"...","answer":"..."}
//   {"kind":"line","step":10,"text":"..."}
//
// What is no number is null. Bytes that are no UTF-8 become U+FFFD.
#pragma once

#include <filesystem>
#include <fstream>
#include <nlohmann/json_fwd.hpp>

#include "watch/events.h"

namespace hone::watch {

class MetricsFile : public Sink {
 public:
  explicit MetricsFile(const std::filesystem::path& path);  // appends; FileError

  // Each throws FileError when the line cannot be written.
  void take(const Step& s) override;
  void take(const Evaluation& e) override;
  void take(const Sample& s) override;
  void take(const Line& l) override;
  using Sink::take;  // histograms have no line

 private:
  void write(const nlohmann::ordered_json& line);

  std::filesystem::path path_;
  std::ofstream out_;
};

}  // namespace hone::watch
