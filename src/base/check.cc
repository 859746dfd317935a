#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace hone {

void check_failed(const std::string& message, std::source_location where) {
  std::fprintf(stderr, "%s:%u: bug in hone: %s\n", where.file_name(),
               static_cast<unsigned>(where.line()), message.c_str());
  std::abort();
}

}  // namespace hone
