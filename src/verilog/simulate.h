// Does a module from outside do what its test bench asks? Compiles and runs both with Icarus
// Verilog (iverilog -g2012, vvp) in a fresh folder, within limits, without a shell.
//
// kPass needs the bench's last line, which carries a number drawn for this run: a module that
// prints PASS itself, ends the simulation, or reaches for the bench by name cannot have it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "verilog/process.h"

namespace hone::verilog {

enum class Verdict { kPass, kFailCompile, kFailSimulate, kTimeout };
std::string_view name(Verdict verdict);  // "pass", "fail compile", "fail simulate", "timeout"

struct Outcome {
  Verdict verdict = Verdict::kPass;
  std::string error;  // the first line that says why; empty with kPass
};

struct Simulator {
  std::string compiler = "iverilog", runtime = "vvp";
  Limits limits = {};  // of each of the two
};

// `testbench` is a Task's (bench.h): its top is tb_hone_nonce. Text that screen.h refuses is
// kFailCompile without being run. Throws FileError when Icarus Verilog is not installed or the
// folder cannot be written. Safe to call from several threads.
Outcome simulate(std::string_view module, std::string_view testbench,
                 const Simulator& simulator = {});

struct Job {
  std::string_view module, testbench;
};

// All of them, on `threads` threads, in the order of the jobs. The first error is thrown again.
std::vector<Outcome> simulate_all(std::span<const Job> jobs, int threads,
                                  const Simulator& simulator = {});

}  // namespace hone::verilog
