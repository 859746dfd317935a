// Foreign names in messages: one line, printable, of a sane length.
#pragma once

#include <string>
#include <string_view>

namespace hone::ckpt {

// "name", with control bytes and bytes above ASCII written \xNN, cut after 80 bytes with "...".
std::string quoted(std::string_view foreign);

}  // namespace hone::ckpt
