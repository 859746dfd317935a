// One searched key and the values that it may take, as SPACE.yaml writes them:
//
//   optim.lr:        {log_uniform: [1.0e-5, 1.0e-3]}
//   adapter.dropout: {uniform: [0, 0.2], step: 0.05}
//   batch.sequences: {integer: [2, 16], step: 2}
//   adapter.rank:    {log_integer: [4, 64]}
//   optim.schedule:  [constant, linear, cosine]      # choices: any YAML values
//
// Both ends of a range belong to it. A trial has one number for each parameter: the value itself,
// or the index of a choice.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/rule.h"
#include "base/yaml.h"

namespace hone::search {

struct Parameter {
  enum class Kind { kChoice, kReal, kInteger };

  std::string name;
  Kind kind = Kind::kChoice;
  bool log = false;
  double low = 0, high = 0;  // of a range; high is a whole number of steps above low
  double step = 0;           // 0: every value between; integers have at least 1
  std::vector<Yaml> choices = {};

  int64_t count() const;         // of values; 0 when there is no end of them
  double at(int64_t i) const;    // value i of count()
  double draw(Random& r) const;  // uniformly, or uniformly in the logarithm
  bool contains(double number) const;
  std::string text(double number) const;  // as YAML on one line; reads back the same

  // Where samplers work: the number, or its logarithm. A step is a cell around its value.
  double axis(double number) const;
  double axis_low() const;
  double axis_high() const;
  double from_axis(double x) const;  // the nearest value
};

struct Parameters {
  std::vector<Parameter> list;
};

// Found by base/fields.h. Throws ConfigError for what is no range and no list.
void read_value(const Yaml& y, const std::string& path, Parameters& out, const Rule& rule);
Yaml to_yaml(const Parameters& parameters);

}  // namespace hone::search
