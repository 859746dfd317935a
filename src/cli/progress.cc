#include "cli/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "cli/terminal.h"

namespace hone::cli {
namespace {

constexpr double kRedrawSeconds = 0.1;
constexpr double kPlainSeconds = 30;
constexpr int kWidestBar = 40;
constexpr int kNarrowestBar = 3;

double fraction(const ProgressState& s) {
  return s.total > 0
             ? std::clamp(static_cast<double>(s.done) / static_cast<double>(s.total), 0.0, 1.0)
             : 0.0;
}

std::string rate_text(const ProgressState& s) {
  if (s.done <= 0 || s.seconds <= 0) return "?it/s";
  const double rate = static_cast<double>(s.done) / s.seconds;
  return rate >= 1 ? fmt::format("{:.2f}it/s", rate) : fmt::format("{:.2f}s/it", 1 / rate);
}

std::string left_text(const ProgressState& s) {
  if (s.done <= 0 || s.total <= 0) return "?";
  const double each = s.seconds / static_cast<double>(s.done);
  return clock_text(each * static_cast<double>(std::max<int64_t>(s.total - s.done, 0)));
}

// "120/1000 [02:10<15:57, 1.09s/it, loss=0.713]" with the first `values` of them.
std::string tail(const ProgressState& s, size_t values) {
  std::string out = s.total > 0 ? fmt::format("{}/{}", s.done, s.total) : fmt::format("{}", s.done);
  out += fmt::format(" [{}<{}, {}", clock_text(s.seconds), left_text(s), rate_text(s));
  for (size_t i = 0; i < values; ++i)
    out += fmt::format(", {}={}", s.values[i].first, s.values[i].second);
  return out + "]";
}

// Eighths of a column, so that the bar moves smoothly.
std::string bar(double part, int width) {
  constexpr std::array<std::string_view, 8> kEighths = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const int eighths = static_cast<int>(part * width * 8);
  std::string out;
  for (int i = 0; i < eighths / 8; ++i) out += "█";
  out += kEighths[static_cast<size_t>(eighths % 8)];
  const int used = eighths / 8 + (eighths % 8 > 0 ? 1 : 0);
  return out + std::string(static_cast<size_t>(width - used), ' ');
}

}  // namespace

std::string clock_text(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0 || seconds > 1e9) return "?";
  const auto s = static_cast<int64_t>(seconds);
  return s >= 3600 ? fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60)
                   : fmt::format("{:02}:{:02}", s / 60, s % 60);
}

std::string progress_line(const ProgressState& s, int width, bool colour) {
  const std::string percent = fmt::format("{:3}%", static_cast<int>(fraction(s) * 100));
  const int fixed = static_cast<int>(percent.size()) + 3;  // "|", "| "
  size_t values = s.values.size();
  std::string end = tail(s, values);
  const auto room = [&] { return width - fixed - static_cast<int>(end.size()); };
  while (values > 0 && room() < kNarrowestBar) end = tail(s, --values);
  if (room() < kNarrowestBar) return (percent + " " + end).substr(0, static_cast<size_t>(width));
  const std::string drawn = bar(fraction(s), std::min(room(), kWidestBar));
  return percent + "|" + (colour ? "\x1b[32m" + drawn + "\x1b[0m" : drawn) + "| " + end;
}

std::string plain_line(const ProgressState& s) {
  return fmt::format("{:3}% {}", static_cast<int>(fraction(s) * 100), tail(s, s.values.size()));
}

Progress::Place Progress::default_place() {
  const bool bar = is_terminal(stderr) && !environment_set("HF_HUB_DISABLE_PROGRESS_BARS");
  return {.out = stderr, .bar = bar, .colour = has_colour(stderr), .width = 0, .seconds = [] {
            const auto now = std::chrono::steady_clock::now().time_since_epoch();
            return std::chrono::duration<double>(now).count();
          }};
}

Progress::Progress(int64_t total, Place place) : place_(std::move(place)) {
  state_.total = total;
  start_ = drawn_ = place_.seconds();
}

Progress::~Progress() { finish(); }

void Progress::update(int64_t done, ProgressValues values) {
  const double now = place_.seconds();
  state_.done = done;
  state_.seconds = now - start_;
  state_.values = std::move(values);
  pending_ = true;
  const auto tenth = static_cast<int64_t>(fraction(state_) * 10);
  const bool due =
      place_.bar ? now - drawn_ >= kRedrawSeconds : tenth > tenth_ || now - drawn_ >= kPlainSeconds;
  tenth_ = std::max(tenth, tenth_);
  if (due) draw();
}

void Progress::draw() {
  drawn_ = place_.seconds();
  pending_ = false;
  if (!place_.bar) {
    std::fprintf(place_.out, "%s\n", plain_line(state_).c_str());
  } else {
    const int width = place_.width > 0 ? place_.width : columns(place_.out) - 1;
    const std::string line = progress_line(state_, width, place_.colour);
    std::fprintf(place_.out, "\r%s\x1b[K", line.c_str());
    line_open_ = true;
  }
  std::fflush(place_.out);
}

void Progress::say(const std::string& line) {
  std::fprintf(place_.out, "%s%s\n", line_open_ ? "\r\x1b[K" : "", line.c_str());
  if (line_open_) draw();
}

void Progress::finish() {
  if (finished_) return;
  if (pending_) draw();
  if (line_open_) std::fputs("\n", place_.out);
  line_open_ = false;
  std::fflush(place_.out);
  finished_ = true;
}

}  // namespace hone::cli
