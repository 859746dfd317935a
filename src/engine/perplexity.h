// How well a model foretells a text.
#pragma once

#include <functional>
#include <optional>
#include <span>

#include "engine/model.h"

namespace hone::engine {

struct Perplexity {
  double nll = 0;  // of the counted tokens, summed
  double nll_squares = 0;
  int64_t counted = 0;
  int64_t windows = 0;

  double value() const;   // exp(nll / counted)
  double spread() const;  // its standard error
};

// As llama.cpp's perplexity tool measures it: the text is cut into windows of `context` tokens, a
// rest is left out, the first token of each is replaced by `bos` where that is given, and the
// tokens of its second half count, each given all before it in its window. `on_window` is called
// after each and may throw. Throws ConfigError when the text is shorter than one window.
Perplexity perplexity(const Model& model, std::span<const int32_t> tokens, int64_t context,
                      std::optional<int32_t> bos,
                      const std::function<void(const Perplexity& so_far)>& on_window = nullptr);

}  // namespace hone::engine
