#include "cli/machine.h"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <charconv>
#include <fstream>
#include <sstream>
#include <thread>

namespace hone::cli {
namespace {

std::string read_text(const char* path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::string trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\"";
  const size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(kSpace) - first + 1));
}

std::string or_unknown(std::string text) { return text.empty() ? "unknown" : text; }

// "MemTotal:       24000000 kB"
uint64_t memory(std::string_view key) {
  const std::string value = line_value(read_text("/proc/meminfo"), key);
  uint64_t kilobytes = 0;
  std::from_chars(value.data(), value.data() + value.size(), kilobytes);
  return kilobytes * 1024;
}

}  // namespace

std::string line_value(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const size_t split = line.find_first_of(":=");
    if (split != std::string_view::npos && trimmed(line.substr(0, split)) == key)
      return trimmed(line.substr(split + 1));
  }
  return "";
}

std::string known_simd(std::string_view flags) {
  const std::string padded = fmt::format(" {} ", flags);
  std::string out;
  for (const char* flag :
       {"avx2", "fma", "f16c", "avx512f", "avx512bw", "avx512_vnni", "avx512_bf16", "avx_vnni",
        "amx_bf16", "amx_int8", "asimd", "sve", "bf16", "i8mm"})
    if (padded.contains(fmt::format(" {} ", flag)))
      out += fmt::format("{}{}", out.empty() ? "" : " ", flag);
  return out.empty() ? "none" : out;
}

std::string os_name() {
  utsname kernel{};
  uname(&kernel);
  return fmt::format("{}, {} {} {}",
                     or_unknown(line_value(read_text("/etc/os-release"), "PRETTY_NAME")),
                     kernel.sysname, kernel.release, kernel.machine);
}

std::string cpu_name() { return or_unknown(line_value(read_text("/proc/cpuinfo"), "model name")); }

std::string cpu_simd() {
  const std::string info = read_text("/proc/cpuinfo");
  const std::string flags = line_value(info, "flags");
  return known_simd(flags.empty() ? line_value(info, "Features") : flags);  // x86, else Arm
}

int usable_cores() { return static_cast<int>(std::thread::hardware_concurrency()); }
uint64_t memory_total() { return memory("MemTotal"); }
uint64_t memory_free() { return memory("MemAvailable"); }

}  // namespace hone::cli
