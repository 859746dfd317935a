// What hone needs from a machine, checked one by one.
#pragma once

#include <string>
#include <vector>

namespace hone::cli {

struct Finding {
  enum Status { kOk, kWarn, kFail };  // warn: something is slower or missing; fail: nothing trains
  Status status;
  std::string what;
  std::string advice = {};  // what to do, unless it is ok
};

std::vector<Finding> examine();

std::string finding_text(const Finding& finding, bool colour);
bool on_path(const std::string& program);  // of $PATH

}  // namespace hone::cli
