#include "cli/command.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>

#include "base/error.h"
#include "base/nearest.h"
#include "base/quote.h"

namespace hone::cli {
namespace {

enum Exit { kOk = 0, kError = 1, kUsage = 2, kInterrupted = 130 };

const Command& find_command(Commands commands, const std::string& name) {
  std::vector<std::string_view> names = {"help"};
  for (const Command* c : commands) {
    if (c->name == name) return *c;
    names.push_back(c->name);
  }
  const std::string hint = did_you_mean(name, names);
  throw UsageError("unknown command {}{}", quote(name), hint.empty() ? "; see hone help" : hint);
}

int print(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  return kOk;
}

int help(Commands commands, std::span<const std::string> args) {
  return print(args.empty() ? help_text(commands) : help_text(find_command(commands, args[0])));
}

int run_command(const Command& command, std::span<const std::string> args) try {
  return command.parse(args) ? command.run(args) : print(help_text(command));
} catch (const UsageError& e) {
  throw UsageError("{}; see hone {} --help", e.what(), command.name);
}

int dispatch(Commands commands, std::span<const std::string> args) {
  if (args.empty()) return help(commands, {});
  const std::string name = args[0] == "--help" || args[0] == "-h" ? "help"
                           : args[0] == "--version"               ? "version"
                                                                  : args[0];
  if (name == "help") return help(commands, args.subspan(1));
  return run_command(find_command(commands, name), args.subspan(1));
}

// What was printed must have arrived: `hone recipe check x > full-disk` is an error.
int flushed(int code) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  throw Error("cannot write to standard output: {}", std::strerror(errno));
}

int end(Exit code, const char* prefix, const char* what) {
  std::fflush(stdout);
  std::fprintf(stderr, "%s%s\n", prefix, what);
  return code;
}

}  // namespace

std::string help_text(Commands commands) {
  std::string out = "hone tunes and runs language models\n\nusage: hone COMMAND [options]\n\n";
  for (const Command* c : commands) out += fmt::format("  {:<9} {}\n", c->name, c->help);
  return out + "\n`hone COMMAND --help` says more.\n";
}

std::string help_text(const Command& command) {
  const std::vector<Option> options = command.options();
  std::string out = fmt::format("hone {}: {}\n\nusage: hone {}{}\n", command.name, command.help,
                                command.name, usage(options));
  if (!options.empty()) out += fmt::format("\n{}", option_lines(options));
  if (!command.examples.empty()) out += "\nexamples:\n";
  for (const std::string_view example : command.examples) out += fmt::format("  {}\n", example);
  return out;
}

int run_commands(Commands commands, std::span<const std::string> args) {
  try {
    return flushed(dispatch(commands, args));
  } catch (const UsageError& e) {
    return end(kUsage, "error: ", e.what());
  } catch (const Interrupted& e) {
    return end(kInterrupted, "", e.what());
  } catch (const std::bad_alloc&) {
    return end(kError, "error: ", "out of memory");
  } catch (const std::exception& e) {
    return end(kError, "error: ", e.what());
  }
}

}  // namespace hone::cli
