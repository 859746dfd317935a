// What the terminal can show.
#pragma once

#include <cstdio>
#include <string>

namespace hone::cli {

bool is_terminal(std::FILE* stream);  // and not a dumb one
bool has_colour(std::FILE* stream);   // a terminal, and NO_COLOR is not set
int columns(std::FILE* stream);       // 80 when nobody knows

void say(const std::string& line);  // on stderr

bool environment_set(const char* name);  // set, and neither empty nor 0

}  // namespace hone::cli
