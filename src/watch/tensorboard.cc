#include "watch/tensorboard.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>

#include "base/crc32c.h"
#include "base/error.h"

namespace hone::watch {
namespace {

namespace fs = std::filesystem;

double now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string host() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "localhost";
}

std::string record(const std::string& message) {
  const auto word = [](uint64_t v, size_t bytes) {
    std::string out;
    for (size_t i = 0; i < bytes; ++i) out += static_cast<char>(v >> (8 * i));
    return out;
  };
  const std::string size = word(message.size(), 8);
  return size + word(masked_crc32c(size), 4) + message + word(masked_crc32c(message), 4);
}

// Summary.Value: tag 1, simple_value 2, histo 5, tensor 8, metadata 9.
void add_scalar(Protobuf& summary, const std::string& tag, double value) {
  summary.message(1, Protobuf().bytes(1, tag).number(2, static_cast<float>(value)));
}

// HistogramProto: min 1, max 2, num 3, sum 4, sum_squares 5, bucket_limit 6, bucket 7.
Protobuf histogram(std::vector<double> values) {
  const auto [low, high] = std::ranges::minmax(values);
  const int buckets = low < high ? 30 : 1;
  std::vector<double> limits, counts(static_cast<size_t>(buckets));
  for (int i = 1; i < buckets; ++i)
    limits.push_back(low / buckets * (buckets - i) + high / buckets * i);
  limits.push_back(low < high ? high : std::nextafter(high, std::numeric_limits<double>::max()));
  double sum = 0, squares = 0;
  for (const double v : values) {
    const auto at = std::ranges::lower_bound(limits, v) - limits.begin();
    ++counts[static_cast<size_t>(std::min<std::ptrdiff_t>(at, buckets - 1))];
    sum += v;
    squares += v * v;
  }
  return Protobuf()
      .number(1, low)
      .number(2, high)
      .number(3, static_cast<double>(values.size()))
      .number(4, sum)
      .number(5, squares)
      .packed(6, limits)
      .packed(7, counts);
}

// TensorProto: dtype 1 (7 is DT_STRING), tensor_shape 2, string_val 8.
Protobuf text_value(const std::string& tag, const std::string& markdown) {
  const Protobuf shape = Protobuf().message(2, Protobuf().varint(1, 1));  // one axis of size 1
  return Protobuf()
      .bytes(1, tag)
      .message(8, Protobuf().varint(1, 7).message(2, shape).bytes(8, markdown))
      .message(9, Protobuf().message(1, Protobuf().bytes(1, "text")));
}

// A block that Markdown takes as it is.
std::string quoted(std::string_view title, std::string_view text) {
  std::string out = fmt::format("**{}**\n\n    ", title);
  for (const char c : text) {
    out += c;
    if (c == '\n') out += "    ";
  }
  return out + "\n\n";
}

}  // namespace

TensorBoard::TensorBoard(const fs::path& folder, int64_t from) {
  fs::create_directories(folder);
  // A run that begins twice in a second is still two files.
  for (int n = 0; path_.empty() || fs::exists(path_); ++n)
    path_ = folder / fmt::format("events.out.tfevents.{:.0f}.{}.{}.{}", std::floor(now()), host(),
                                 getpid(), n);
  out_.open(path_, std::ios::binary);
  write(0, Protobuf().bytes(3, "brain.Event:2"));
  // SessionLog with status START: forget what came after this step.
  if (from > 0) write(from + 1, Protobuf().message(7, Protobuf().varint(1, 1)));
}

// Event: wall_time 1, step 2, file_version 3, summary 5, session_log 7.
void TensorBoard::write(int64_t step, const Protobuf& fields) {
  Protobuf event;
  event.number(1, now()).varint(2, static_cast<uint64_t>(step));
  out_ << record(event.text() + fields.text()) << std::flush;
  if (!out_) throw FileError("cannot write {}: is the disk full?", path_.string());
}

void TensorBoard::take(const Step& s) {
  Protobuf summary;
  add_scalar(summary, "train/loss", s.loss);
  add_scalar(summary, "train/grad_norm", s.grad_norm);
  add_scalar(summary, "train/learning_rate", s.learning_rate);
  add_scalar(summary, "train/epoch", s.epoch);
  add_scalar(summary, "train/tokens_per_second", s.tokens_per_second);
  for (const auto& [name, value] : s.metrics) add_scalar(summary, "train/" + name, value);
  write(s.step, Protobuf().message(5, summary));
}

void TensorBoard::take(const Evaluation& e) {
  Protobuf summary;
  add_scalar(summary, "eval/loss", e.loss);
  add_scalar(summary, "eval/perplexity", e.perplexity);
  for (const auto& [name, value] : e.metrics) add_scalar(summary, "eval/" + name, value);
  write(e.step, Protobuf().message(5, summary));
}

void TensorBoard::take(const Sample& s) {
  samples_ = s.step == sample_step_ ? samples_ + 1 : 1;
  sample_step_ = s.step;
  const std::string text =
      quoted("prompt", s.prompt) + quoted("expected", s.expected) + quoted("answer", s.answer);
  const Protobuf value = text_value(fmt::format("sample/{}", samples_), text);
  write(s.step, Protobuf().message(5, Protobuf().message(1, value)));
}

void TensorBoard::take(const Histogram& h) {
  std::vector<double> values;
  for (const double v : h.values)
    if (std::isfinite(v)) values.push_back(v);
  if (values.empty()) return;
  const Protobuf value = Protobuf().bytes(1, h.name).message(5, histogram(std::move(values)));
  write(h.step, Protobuf().message(5, Protobuf().message(1, value)));
}

}  // namespace hone::watch
