// Runs the command lines of *.test files and compares what they print.
//
//   cli_runner PROGRAM FOLDER
//
// A file holds cases:
//
//   # what this is about
//   $ hone recipe check nope          a shell command; hone is PROGRAM (its path is $HONE), $TMP an
//                                     empty folder
//   exit 1                            the exit code, 0 when not given
//   out text                          stdout holds this text (err: stderr), given any number of
//   times no out                            stdout is empty (no err: stderr) lines out 3 stdout has
//   so many lines (err: stderr)
//
// Beyond what a case says, exit codes 1 and 2 must come with one line "error: ...", the last on
// stderr, unless the case is of `hone doctor`, whose findings are on stdout.
#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/quote.h"

namespace {

namespace fs = std::filesystem;

constexpr size_t kLeastCases = 85;  // fewer means that a file was not found

struct Case {
  std::string place, command;
  std::vector<std::string> expected;
};

struct Result {
  int exit = 0;
  std::string out, err;
};

std::vector<Case> read_cases(const fs::path& file) {
  std::ifstream in(file);
  std::vector<Case> cases;
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    const std::string place = fmt::format("{}:{}", file.string(), number);
    if (line.empty() || line.starts_with('#')) continue;
    if (line.starts_with("$ "))
      cases.push_back({place, line.substr(2), {}});
    else if (cases.empty())
      throw hone::Error("{}: expected a command, as in `$ hone version`", place);
    else
      cases.back().expected.push_back(line);
  }
  return cases;
}

std::string read_text(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

Result run(const std::string& command, const std::string& program, const fs::path& scratch) {
  fs::remove_all(scratch / "tmp");
  fs::create_directories(scratch / "tmp");
  const fs::path script = scratch / "script", out = scratch / "out", err = scratch / "err";
  std::ofstream(script) << fmt::format("HONE='{}'\nhone() {{ \"$HONE\" \"$@\"; }}\nTMP='{}'\n{}\n",
                                       program, (scratch / "tmp").string(), command);
  const int status = std::system(
      fmt::format("bash '{}' >'{}' 2>'{}' </dev/null", script.string(), out.string(), err.string())
          .c_str());
  const int exit = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return {exit, read_text(out), read_text(err)};
}

// What is wrong, or "".
std::string compare(const std::string& line, const Result& r) {
  const std::string_view text = line;
  const auto stream = [&](std::string_view name) { return name == "out" ? r.out : r.err; };
  const std::string_view name = text.substr(0, 3),
                         rest = text.substr(std::min<size_t>(4, text.size()));
  if (name == "out" || name == "err") return stream(name).contains(rest) ? "" : "is missing";
  if (text == "no out" || text == "no err")
    return stream(text.substr(3)).empty() ? "" : "is not so";
  if (text.starts_with("lines ") && text.size() > 10) {
    const auto lines = std::ranges::count(stream(text.substr(6, 3)), '\n');
    return std::to_string(lines) == text.substr(10) ? "" : fmt::format("but it has {}", lines);
  }
  if (text.starts_with("exit ")) return std::to_string(r.exit) == text.substr(5) ? "" : "is not so";
  return "is no expectation";
}

std::vector<std::string> problems(const Case& c, const Result& r) {
  std::vector<std::string> out;
  bool says_exit = false;
  for (const std::string& line : c.expected) {
    says_exit |= line.starts_with("exit ");
    if (const std::string problem = compare(line, r); !problem.empty())
      out.push_back(fmt::format("`{}` {}", line, problem));
  }
  if (!says_exit && r.exit != 0) out.push_back("expected exit 0");
  // Progress may stand above it; the error is the last line, and the only one.
  const size_t last = r.err.find_last_of('\n', r.err.size() < 2 ? 0 : r.err.size() - 2);
  const std::string ending = last == std::string::npos ? r.err : r.err.substr(last + 1);
  const bool one_line =
      ending.starts_with("error: ") && r.err.find("error: ") == r.err.rfind("error: ");
  if ((r.exit == 1 || r.exit == 2) && !one_line && !c.command.contains("hone doctor"))
    out.push_back("expected one line `error: ...` on stderr");
  return out;
}

int run_all(const std::string& program, const fs::path& folder, const fs::path& scratch) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".test") files.push_back(entry.path());
  std::ranges::sort(files);
  size_t count = 0, failed = 0;
  for (const fs::path& file : files)
    for (const Case& c : read_cases(file)) {
      const Result result = run(c.command, program, scratch);
      const std::vector<std::string> found = problems(c, result);
      ++count;
      failed += !found.empty();
      if (!found.empty())
        fmt::print("{}: $ {}\n  {}\n  exit {}\n  out {}\n  err {}\n", c.place, c.command,
                   fmt::join(found, "\n  "), result.exit, hone::quote(result.out, 2000),
                   hone::quote(result.err, 2000));
    }
  fmt::print("{} cases in {} files, {} failed\n", count, files.size(), failed);
  if (count < kLeastCases) fmt::print("at least {} cases were expected\n", kLeastCases);
  return failed == 0 && count >= kLeastCases ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  std::string scratch = (fs::temp_directory_path() / "hone-cli-XXXXXX").string();
  if (mkdtemp(scratch.data()) == nullptr) return 2;
  int code = 1;
  try {
    code = run_all(fs::absolute(argv[1]).string(), argv[2], scratch);
  } catch (const std::exception& e) {
    fmt::print("{}\n", e.what());
  }
  fs::remove_all(scratch);
  return code;
}
