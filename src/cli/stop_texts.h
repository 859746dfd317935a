// Texts that end an answer. What could still become one of them is held back, so that no part of it
// is ever shown.
#pragma once

#include <string>
#include <vector>

namespace hone::cli {

class StopTexts {
 public:
  // Empty texts are ignored.
  explicit StopTexts(std::vector<std::string> texts);

  // The part of what has come in so far that may be shown now; after met(), nothing more.
  std::string push(const std::string& piece);
  bool met() const { return met_; }
  std::string rest();  // what was held back, when nothing more comes

 private:
  std::vector<std::string> texts_;
  std::string held_;
  bool met_ = false;
};

}  // namespace hone::cli
