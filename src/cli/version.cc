// hone version: one line.
#include "cli/version.h"

#include <cstdio>

#include "cli/command.h"

namespace hone::cli {
namespace {

struct Options {
  void fields(auto&) {}
};

int run(const Options&) {
  std::fputs(fmt::format("hone {} ({})\n", kVersionNumber, kCommit).c_str(), stdout);
  return 0;
}

}  // namespace

extern const Command kVersion = command<run>("version", "print the version", {"hone version"});

}  // namespace hone::cli
