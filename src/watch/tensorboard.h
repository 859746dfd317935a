// TensorBoard's event files: a TFRecord (length, masked crc32c, bytes, masked crc32c) for each
// Event message of tensorflow/core/util/event.proto, field numbers written by hand.
//
//   train/loss train/grad_norm train/learning_rate train/epoch train/tokens_per_second train/METRIC
//   eval/loss eval/perplexity eval/METRIC                        scalars
//   NAME                                                         histograms, by the event's name
//   sample/N                                                     texts: the N-th sample of a step
#pragma once

#include <filesystem>
#include <fstream>

#include "watch/events.h"
#include "watch/protobuf.h"

namespace hone::watch {

class TensorBoard : public Sink {
 public:
  // A new file in `folder`. `from` is the step that a run goes on from: what earlier files of the
  // folder say of later steps is then left out by TensorBoard. Throws FileError, as take() does.
  TensorBoard(const std::filesystem::path& folder, int64_t from);

  void take(const Step& s) override;
  void take(const Evaluation& e) override;
  void take(const Sample& s) override;
  void take(const Histogram& h) override;

  const std::filesystem::path& path() const { return path_; }

 private:
  void write(int64_t step, const Protobuf& fields);

  std::filesystem::path path_;
  std::ofstream out_;
  int64_t sample_step_ = -1, samples_ = 0;  // seen of this step
};

}  // namespace hone::watch
