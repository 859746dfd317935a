// Foreign bytes in messages: one line, printable, of a sane length.
#pragma once

#include <string>
#include <string_view>

namespace hone {

bool valid_utf8(std::string_view text);  // RFC 3629: no overlong forms, no surrogates

// "text" in double quotes, cut after `longest` bytes. UTF-8 is kept; control characters, quotes
// and bytes that are no UTF-8 are escaped, so that a file cannot speak to the terminal.
std::string quote(std::string_view foreign, size_t longest = 80);

}  // namespace hone
