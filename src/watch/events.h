// What happens in a training run, and who hears of it.
//
// The trainer tells a Sink; sinks are files and endpoints. Numbers may be NaN or infinite, texts
// may be anything: a sink copes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace hone::watch {

using Metrics = std::vector<std::pair<std::string, double>>;  // as the objective names them

struct Step {
  int64_t step = 0, steps = 0;  // done, of the run
  double loss = 0, grad_norm = 0, learning_rate = 0;
  double epoch = 0;
  int64_t tokens = 0, targets = 0;  // of this step; targets are those that are learnt
  double tokens_per_second = 0;
  Metrics metrics = {};
};

struct Evaluation {
  int64_t step = 0;
  double loss = 0, perplexity = 0;
  Metrics metrics = {};
};

// What the model answers to a prompt of the validation set.
struct Sample {
  int64_t step = 0;
  std::string prompt, expected, answer;
};

struct Histogram {
  int64_t step = 0;
  std::string name;  // "norms/adapter"
  std::vector<double> values;
};

// What was said to the user.
struct Line {
  int64_t step = 0;
  std::string text;
};

class Sink {
 public:
  Sink() = default;
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;
  virtual ~Sink() = default;

  virtual void take(const Step&) {}
  virtual void take(const Evaluation&) {}
  virtual void take(const Sample&) {}
  virtual void take(const Histogram&) {}
  virtual void take(const Line&) {}
};

}  // namespace hone::watch
