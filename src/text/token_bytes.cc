#include "text/token_bytes.h"

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <unordered_map>

#include "base/error.h"
#include "text/utf8.h"

namespace hone::text {
namespace {

using Step = std::function<std::string(std::string)>;  // one token in, its bytes out

// The byte that each character of a byte-level vocabulary stands for: printable Latin-1 is itself,
// the 68 other bytes are the characters from U+0100 on (GPT-2's encoder).
std::unordered_map<std::string, char> byte_alphabet() {
  std::unordered_map<std::string, char> alphabet;
  unsigned next = 0x100;
  for (unsigned byte = 0; byte < 256; ++byte) {
    const bool printable = (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte != 0xAD);
    const unsigned code = printable ? byte : next++;
    std::string character;
    if (code < 0x80) {
      character = static_cast<char>(code);
    } else {
      character = {static_cast<char>(0xC0 | (code >> 6)), static_cast<char>(0x80 | (code & 0x3F))};
    }
    alphabet.emplace(std::move(character), static_cast<char>(byte));
  }
  return alphabet;
}

// A token with a character outside the alphabet (an added one) is its own text.
std::string byte_level(std::string token) {
  static const auto kAlphabet = byte_alphabet();
  std::string bytes;
  for (size_t at = 0; at < token.size();) {
    const size_t size = utf8_step(std::string_view(token).substr(at)).bytes;
    const auto found = kAlphabet.find(token.substr(at, size));
    if (found == kAlphabet.end()) return token;
    bytes += found->second;
    at += size;
  }
  return bytes;
}

// "<0x0A>" is the byte 10.
std::string byte_fallback(std::string token) {
  if (token.size() != 6 || !token.starts_with("<0x") || token[5] != '>') return token;
  const auto digit = [](char c) -> std::optional<int> {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return std::nullopt;
  };
  const auto high = digit(token[3]), low = digit(token[4]);
  if (!high || !low) return token;
  return std::string(1, static_cast<char>(*high * 16 + *low));
}

std::string replace_all(std::string token, const std::string& from, const std::string& to) {
  for (size_t at = 0; (at = token.find(from, at)) != std::string::npos; at += to.size())
    token.replace(at, from.size(), to);
  return token;
}

[[noreturn]] void refuse(const std::string& what) {
  throw ConfigError("the decoder {} is not known; ByteLevel and SentencePiece-style ones are",
                    what);
}

constexpr size_t kMostReplacement = 16;  // bytes; real ones are one space

// Reads a decoder into steps for single tokens and an effect on the front of the whole text.
struct Reader {
  std::vector<Step> steps;
  size_t leading_spaces = 0;
  bool fused = false;  // from here on the tokens are one text

  void read(const nlohmann::json& decoder, bool top) {
    if (!decoder.is_object()) refuse("null");
    const std::string type = decoder.at("type");
    if (type == "Sequence" && top) {
      for (const auto& part : decoder.at("decoders")) read(part, false);
    } else if (type == "Fuse") {
      fused = true;
    } else if (type == "Strip" && fused && decoder.at("content") == " " &&
               decoder.at("stop") == 0) {
      leading_spaces += decoder.at("start").get<size_t>();
    } else if (type == "ByteLevel" && !fused) {
      steps.emplace_back(byte_level);
    } else if (type == "ByteFallback" && !fused) {
      steps.emplace_back(byte_fallback);
    } else if (type == "Replace" && !fused) {
      steps.push_back(replace(decoder));
    } else {
      refuse(type);
    }
  }

  static Step replace(const nlohmann::json& decoder) {
    const auto& pattern = decoder.at("pattern");
    if (!pattern.contains("String")) refuse("Replace of a regular expression");
    const std::string from = pattern.at("String"), to = decoder.at("content");
    if (from.empty() || to.size() > kMostReplacement) refuse("Replace, as it stands there,");
    return [from, to](std::string token) { return replace_all(std::move(token), from, to); };
  }
};

}  // namespace

TokenBytes token_bytes(const nlohmann::json& decoder, const Strings& tokens) {
  Reader reader;
  reader.read(decoder, true);
  TokenBytes result{.bytes = {}, .leading_spaces = reader.leading_spaces};
  for (size_t id = 0; id < tokens.size(); ++id) {
    std::string bytes(tokens[id]);
    for (const Step& step : reader.steps) bytes = step(std::move(bytes));
    result.bytes.push_back(bytes);
  }
  return result;
}

}  // namespace hone::text
