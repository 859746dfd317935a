// A subcommand is one file with one record; main.cc is the table of them.
//
//   int run(const Options& options) { ... }
//   const Command kBench = command<run>("bench", "measure speed", {"hone bench lora"});
//
// run() prints to stdout, gives the exit code, and throws what goes wrong: Error (exit 1),
// UsageError (2), Interrupted (130).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/options.h"

namespace hone::cli {

struct Command {
  std::string_view name;
  std::string_view help;                             // one line
  std::vector<std::string_view> examples;            // command lines; a test parses each
  std::vector<Option> (*options)();                  // for the help; their set() must not be called
  bool (*parse)(std::span<const std::string> args);  // false: help was asked for
  int (*run)(std::span<const std::string> args);     // what parse() has taken
};

namespace detail {
template <class Options>
Options options_type(int (*)(const Options&));
}

template <auto kRun>
Command command(std::string_view name, std::string_view help,
                std::vector<std::string_view> examples) {
  using Options = decltype(detail::options_type(kRun));
  return {
      .name = name,
      .help = help,
      .examples = std::move(examples),
      .options =
          [] {
            Options options;
            return options_of(options);
          },
      .parse =
          [](std::span<const std::string> args) {
            Options options;
            return parse_options(options_of(options), args);
          },
      .run =
          [](std::span<const std::string> args) {
            Options options;
            parse_options(options_of(options), args);
            return kRun(options);
          },
  };
}

using Commands = std::span<const Command* const>;

std::string help_text(Commands commands);       // `hone help`
std::string help_text(const Command& command);  // `hone CMD --help`

// Finds the command, runs it and turns what it throws into one line on stderr and the exit code.
int run_commands(Commands commands, std::span<const std::string> args);

}  // namespace hone::cli
