// Generation: prompts go in as one left-padded batch, a chunk of each at a time, their keys and
// values stay in a cache that is updated in place, and one token a row comes out of each step.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "engine/model.h"
#include "engine/program.h"
#include "engine/sampler.h"

namespace hone::engine {

// Bounds the memory of scores, and what a layer with a window keeps besides its window.
constexpr int64_t kPrefillChunk = 512;

struct GenerateOptions {
  int64_t max_new_tokens = 256;
  Sampling sampling;
  std::vector<int32_t> stop_tokens;  // end a row and are not part of it
  int64_t chunk = kPrefillChunk;     // tokens of a longer prompt that go through the model at once
};

struct GenerateTimes {
  double compile_seconds = 0, prefill_seconds = 0, decode_seconds = 0;
  int64_t prefill_tokens = 0, decode_steps = 0;
};

class Generator {
 public:
  // A row's new token; false ends the row (it keeps the token).
  using OnToken = std::function<bool(size_t row, int32_t token)>;

  explicit Generator(const Model& model) : model_(model) {}  // which must outlive this

  // The new tokens of each row. Row r draws from a generator seeded with (seed, r), so a row's text
  // does not depend on its neighbours' draws. Throws ConfigError when a prompt is empty or longer
  // than the model's context.
  std::vector<std::vector<int32_t>> run(const std::vector<std::vector<int32_t>>& prompts,
                                        const GenerateOptions& options,
                                        const OnToken& on_token = nullptr);

  const GenerateTimes& times() const { return times_; }  // of the last run

 private:
  struct Step;
  struct Sizes;
  Step step(const Sizes& sizes, int64_t tokens);

  const Model& model_;
  GenerateTimes times_;
};

}  // namespace hone::engine
