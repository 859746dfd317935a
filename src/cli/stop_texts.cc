#include "cli/stop_texts.h"

#include <algorithm>
#include <utility>

namespace hone::cli {

StopTexts::StopTexts(std::vector<std::string> texts) : texts_(std::move(texts)) {
  std::erase(texts_, "");
}

std::string StopTexts::push(const std::string& piece) {
  if (met_) return {};
  held_ += piece;
  size_t first = std::string::npos;
  for (const std::string& t : texts_) first = std::min(first, held_.find(t));
  if (first != std::string::npos) {
    met_ = true;
    return std::exchange(held_, {}).substr(0, first);
  }
  size_t keep = 0;  // the longest end of held_ that begins a stop text
  for (const std::string& t : texts_)
    for (size_t n = std::min(t.size() - 1, held_.size()); n > keep; --n)
      if (held_.ends_with(std::string_view(t).substr(0, n))) keep = n;
  std::string out = held_.substr(0, held_.size() - keep);
  held_.erase(0, out.size());
  return out;
}

std::string StopTexts::rest() { return std::exchange(held_, {}); }

}  // namespace hone::cli
