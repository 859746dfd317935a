// UTF-8: cutting bytes into characters, mending broken ones, and what counts as white space.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hone::text {

// What stands at the front of some bytes (Unicode 15, section 3.9).
struct Utf8Step {
  enum Kind { kCharacter, kBroken, kCutShort } kind;
  size_t bytes;  // of the character, or of the longest start of one that it breaks off from
};
Utf8Step utf8_step(std::string_view bytes);  // bytes is not empty

// Bytes in, whole characters out. What can never become a character comes out as U+FFFD, one for
// each longest start of a character; what may still become one waits.
class Utf8Stream {
 public:
  std::string push(std::string_view bytes);
  std::string finish();  // U+FFFD when something was waiting

 private:
  std::string waiting_;  // at most three bytes
};

// The size of the white space (Unicode's White_Space) at the front, and at the back.
size_t leading_space(std::string_view text);
size_t trailing_space(std::string_view text);

}  // namespace hone::text
