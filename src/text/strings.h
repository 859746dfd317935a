// Many short strings in one block: the texts of a vocabulary.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hone::text {

class Strings {
 public:
  Strings() = default;
  // String i is the bytes of `joined` from ends[i - 1] (or 0) to ends[i].
  Strings(std::string joined, std::vector<uint32_t> ends)
      : joined_(std::move(joined)), ends_(std::move(ends)) {}

  size_t size() const { return ends_.size(); }
  std::string_view operator[](size_t i) const {
    const size_t begin = i == 0 ? 0 : ends_[i - 1];
    return std::string_view(joined_).substr(begin, ends_[i] - begin);
  }
  void push_back(std::string_view text) {
    joined_ += text;
    ends_.push_back(static_cast<uint32_t>(joined_.size()));
  }

 private:
  std::string joined_;
  std::vector<uint32_t> ends_;
};

}  // namespace hone::text
