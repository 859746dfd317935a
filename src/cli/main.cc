// The program: a table of commands.
#include <string>
#include <vector>

#include "cli/command.h"

namespace hone::cli {

extern const Command kDemo, kTrain, kTune, kReport, kData, kGenerate, kLogits, kPerplexity, kInfo,
    kBench, kRecipe, kDoctor, kEnv, kVersion;  // one a file

Commands all_commands() {
  static const Command* const all[] = {&kDemo,     &kTrain,  &kTune,       &kReport, &kData,
                                       &kGenerate, &kLogits, &kPerplexity, &kInfo,   &kBench,
                                       &kRecipe,   &kDoctor, &kEnv,        &kVersion};
  return all;
}

}  // namespace hone::cli

int main(int argc, char** argv) {
  const std::vector<std::string> args(argv + 1, argv + argc);
  return hone::cli::run_commands(hone::cli::all_commands(), args);
}
