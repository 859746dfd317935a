// What this machine is, read from /proc and the C library. Unknown texts are "unknown", unknown
// sizes 0.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hone::cli {

std::string os_name();    // "Debian GNU/Linux 12 (bookworm), Linux 6.1.0 x86_64"
std::string cpu_name();   // "AMD EPYC 7763 64-Core Processor"
std::string cpu_simd();   // "avx2 fma avx512f", of those that matter to us
int usable_cores();       // that this process may run on
uint64_t memory_total();  // bytes
uint64_t memory_free();   // bytes that can be had without swapping

inline double gib(uint64_t bytes) { return static_cast<double>(bytes) / (1 << 30); }

// The value of the first line "key: value" or "key=value" of a /proc or os-release file.
std::string line_value(std::string_view text, std::string_view key);
// Which of the SIMD extensions that matter to us a line of flags names.
std::string known_simd(std::string_view flags);

}  // namespace hone::cli
