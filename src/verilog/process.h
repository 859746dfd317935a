// Runs one program without a shell, with limits that it cannot outlive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace hone::verilog {

struct Limits {
  double seconds = 10;                     // wall clock; also of processor time
  size_t output_bytes = size_t{64} << 10;  // standard output and error together
  size_t memory_bytes = size_t{2} << 30;   // address space
  size_t file_bytes = size_t{64} << 20;    // each file written
};

struct Finished {
  int status = -1;         // exit code; -1 when a signal ended it, ours included
  bool timed_out = false;  // ended by us at the wall limit
  bool flooded = false;    // ended by us for printing too much
  std::string output;      // standard output and error, interleaved, cut at the limit
};

// argv[0] is looked up in PATH. The program runs in `folder`, which is also its folder for
// temporary files, with no input and an environment of PATH only. It leads a process group of its
// own, all of which is killed before this returns. Throws FileError when argv[0] is not installed.
Finished run_process(const std::vector<std::string>& argv, const std::filesystem::path& folder,
                     const Limits& limits = {});

// A folder of its own in the system's place for temporary files, removed with the object.
class ScratchFolder {
 public:
  ScratchFolder();  // throws FileError when it cannot be made
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace hone::verilog
