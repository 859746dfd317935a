#include "verilog/simulate.h"

#include <fmt/format.h>

#include <atomic>
#include <exception>
#include <fstream>
#include <mutex>
#include <random>
#include <thread>

#include "base/check.h"
#include "base/error.h"
#include "base/quote.h"
#include "verilog/bench.h"
#include "verilog/screen.h"

namespace hone::verilog {
namespace {

std::string draw_nonce() {
  std::random_device device;
  std::string nonce = "n";
  for (int i = 0; i < 4; ++i) nonce += fmt::format("{:08x}", device());
  return nonce;
}

std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
  std::string out;
  for (size_t at; (at = text.find(from)) != std::string_view::npos;
       text.remove_prefix(at + from.size())) {
    out += text.substr(0, at);
    out += to;
  }
  return out += text;
}

void write_file(const std::filesystem::path& path, std::string_view text) {
  std::ofstream file(path, std::ios::binary);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  file.close();
  if (!file) throw FileError("cannot write {}: is the disk full?", path.string());
}

Finished run(const std::vector<std::string>& argv, const ScratchFolder& folder,
             const Limits& limits) {
  try {
    return run_process(argv, folder.path(), limits);
  } catch (const FileError& e) {
    throw FileError("{}; install Icarus Verilog (apt-get install iverilog)", e.what());
  }
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    if (end > 0) lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// The first line with `mark` in it, else the first line, else `none`; fit to be printed.
std::string first_line(const std::string& output, std::string_view mark, std::string_view none) {
  const std::vector<std::string_view> lines = lines_of(output);
  std::string_view found = lines.empty() ? none : lines.front();
  for (const std::string_view line : lines)
    if (line.find(mark) != std::string_view::npos) {
      found = line;
      break;
    }
  const std::string quoted = quote(found, 200);
  return quoted.substr(1, quoted.size() - 2);
}

std::optional<Outcome> stopped(const Finished& done, Verdict flooded, const Limits& limits) {
  if (done.timed_out)
    return Outcome{Verdict::kTimeout, fmt::format("no end within {} s", limits.seconds)};
  if (done.flooded)
    return Outcome{flooded, fmt::format("more than {} bytes of output", limits.output_bytes)};
  return std::nullopt;
}

}  // namespace

std::string_view name(Verdict verdict) {
  switch (verdict) {
    case Verdict::kPass:
      return "pass";
    case Verdict::kFailCompile:
      return "fail compile";
    case Verdict::kFailSimulate:
      return "fail simulate";
    case Verdict::kTimeout:
      return "timeout";
  }
  return "?";
}

Outcome simulate(std::string_view module, std::string_view testbench, const Simulator& simulator) {
  if (module.empty()) return {Verdict::kFailCompile, "there is no module"};
  if (const auto reason = refusal(module)) return {Verdict::kFailCompile, *reason};

  const std::string nonce = draw_nonce();
  const std::string bench = replaced(testbench, kNonce, nonce);
  check(bench != testbench, "a test bench without its placeholder");
  const ScratchFolder folder;
  write_file(folder.path() / "bench.v", bench);
  write_file(folder.path() / "module.v", module);

  // The bench comes first, so that no directive of the module reaches it.
  Finished done = run(
      {simulator.compiler, "-g2012", "-s", "tb_" + nonce, "-o", "bench.vvp", "bench.v", "module.v"},
      folder, simulator.limits);
  done.output = replaced(done.output, nonce, kNonce);
  if (const auto outcome = stopped(done, Verdict::kFailCompile, simulator.limits)) return *outcome;
  if (done.status != 0)
    return {Verdict::kFailCompile, first_line(done.output, "error", "iverilog failed silently")};

  done = run({simulator.runtime, "-n", "bench.vvp"}, folder, simulator.limits);
  if (const auto outcome = stopped(done, Verdict::kFailSimulate, simulator.limits)) return *outcome;
  const std::vector<std::string_view> lines = lines_of(done.output);
  const std::string_view last = lines.empty() ? "" : lines.back();
  if (done.status == 0 && last == "PASS " + nonce) return {};
  if (last == "TIMEOUT") return {Verdict::kTimeout, "the test bench's time ran out"};
  return {Verdict::kFailSimulate,
          first_line(replaced(done.output, nonce, kNonce), "MISMATCH", "ended without a verdict")};
}

std::vector<Outcome> simulate_all(std::span<const Job> jobs, int threads,
                                  const Simulator& simulator) {
  std::vector<Outcome> outcomes(jobs.size());
  std::atomic<size_t> next = 0;
  std::exception_ptr failed;
  std::mutex mutex;
  const auto work = [&] {
    try {
      for (size_t i; (i = next++) < jobs.size();)
        outcomes[i] = simulate(jobs[i].module, jobs[i].testbench, simulator);
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!failed) failed = std::current_exception();
      next = jobs.size();
    }
  };
  {
    std::vector<std::jthread> pool;
    for (int i = 0; i < threads; ++i) pool.emplace_back(work);
  }
  if (failed) std::rethrow_exception(failed);
  return outcomes;
}

}  // namespace hone::verilog
