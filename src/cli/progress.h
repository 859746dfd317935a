// The progress line of a long loop, in the form that people know from tqdm:
//
//   | 12%|█▏        | 120/1000 [02:10<15:57, 1.09s/it, loss=0.713, lr=9.8e-05, tok/s=7630]
//
// A terminal gets one line that is redrawn. Anything else, and HF_HUB_DISABLE_PROGRESS_BARS, get a
// plain line at every tenth and every half minute.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace hone::cli {

using ProgressValues = std::vector<std::pair<std::string, std::string>>;  // {"loss", "0.713"}

struct ProgressState {
  int64_t done = 0, total = 0;  // total 0: unknown
  double seconds = 0;
  ProgressValues values;
};

// At most `width` columns: the bar gives way first, then the values, last one first. `colour` adds
// escape codes that take no column.
std::string progress_line(const ProgressState& state, int width, bool colour = false);
std::string plain_line(const ProgressState& state);
std::string clock_text(double seconds);  // "02:10", "1:02:10", "?" when not finite

class Progress {
 public:
  // What decides how it is drawn; the defaults read the machine.
  struct Place {
    std::FILE* out = stderr;
    bool bar = false;
    bool colour = false;
    int width = 0;  // 0: asked of the terminal at each draw
    std::function<double()> seconds;
  };
  static Place default_place();

  explicit Progress(int64_t total, Place place = default_place());
  ~Progress();  // leaves the last line standing
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void update(int64_t done, ProgressValues values = {});
  // Prints a line above the bar.
  void say(const std::string& line);
  void finish();

 private:
  void draw();

  Place place_;
  ProgressState state_;
  double start_ = 0, drawn_ = 0;
  int64_t tenth_ = 0;
  bool pending_ = false;    // updated since it was drawn
  bool line_open_ = false;  // the cursor stands behind a bar
  bool finished_ = false;
};

}  // namespace hone::cli
