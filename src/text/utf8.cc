#include "text/utf8.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace hone::text {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

// How long a character with this first byte is, and what its second byte may be.
struct Lead {
  size_t bytes;
  uint8_t low, high;
};

Lead lead(uint8_t first) {
  if (first < 0x80) return {1, 0, 0};
  if (first < 0xC2) return {0, 0, 0};
  if (first < 0xE0) return {2, 0x80, 0xBF};
  if (first == 0xE0) return {3, 0xA0, 0xBF};
  if (first == 0xED) return {3, 0x80, 0x9F};
  if (first < 0xF0) return {3, 0x80, 0xBF};
  if (first == 0xF0) return {4, 0x90, 0xBF};
  if (first < 0xF4) return {4, 0x80, 0xBF};
  if (first == 0xF4) return {4, 0x80, 0x8F};
  return {0, 0, 0};
}

constexpr std::array<std::string_view, 25> kSpaces = {
    "\t",           "\n",           "\v",           "\f",           "\r", " ",
    "\xC2\x85",     "\xC2\xA0",     "\xE1\x9A\x80",                   // 85 A0 1680
    "\xE2\x80\x80", "\xE2\x80\x81", "\xE2\x80\x82", "\xE2\x80\x83",   // 2000-2003
    "\xE2\x80\x84", "\xE2\x80\x85", "\xE2\x80\x86", "\xE2\x80\x87",   // 2004-2007
    "\xE2\x80\x88", "\xE2\x80\x89", "\xE2\x80\x8A", "\xE2\x80\xA8",   // 2008-200A 2028
    "\xE2\x80\xA9", "\xE2\x80\xAF", "\xE2\x81\x9F", "\xE3\x80\x80"};  // 2029 202F 205F 3000

}  // namespace

Utf8Step utf8_step(std::string_view bytes) {
  const auto at = [&](size_t i) { return static_cast<uint8_t>(bytes[i]); };
  const Lead lead_byte = lead(at(0));
  if (lead_byte.bytes == 0) return {Utf8Step::kBroken, 1};
  for (size_t i = 1; i < lead_byte.bytes; ++i) {
    if (i == bytes.size()) return {Utf8Step::kCutShort, i};
    const uint8_t low = i == 1 ? lead_byte.low : 0x80, high = i == 1 ? lead_byte.high : 0xBF;
    if (at(i) < low || at(i) > high) return {Utf8Step::kBroken, i};
  }
  return {Utf8Step::kCharacter, lead_byte.bytes};
}

std::string Utf8Stream::push(std::string_view bytes) {
  waiting_ += bytes;
  std::string out;
  size_t at = 0;
  while (at < waiting_.size()) {
    const std::string_view rest = std::string_view(waiting_).substr(at);
    const Utf8Step step = utf8_step(rest);
    if (step.kind == Utf8Step::kCutShort) break;
    out += step.kind == Utf8Step::kCharacter ? rest.substr(0, step.bytes) : kReplacement;
    at += step.bytes;
  }
  waiting_.erase(0, at);
  return out;
}

std::string Utf8Stream::finish() {
  const bool cut_short = !waiting_.empty();
  waiting_.clear();
  return std::string(cut_short ? kReplacement : "");
}

size_t leading_space(std::string_view text) {
  size_t size = 0;
  for (bool more = true; more;) {
    const auto rest = text.substr(size);
    const auto found = std::ranges::find_if(kSpaces, [&](auto s) { return rest.starts_with(s); });
    more = found != kSpaces.end();
    if (more) size += found->size();
  }
  return size;
}

size_t trailing_space(std::string_view text) {
  size_t left = text.size();
  for (bool more = true; more;) {
    const auto rest = text.substr(0, left);
    const auto found = std::ranges::find_if(kSpaces, [&](auto s) { return rest.ends_with(s); });
    more = found != kSpaces.end();
    if (more) left -= found->size();
  }
  return text.size() - left;
}

}  // namespace hone::text
