#include "verilog/shape.h"

#include <cctype>
#include <map>
#include <set>

namespace hone::verilog {
namespace {

bool word_char(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Those that the generator's modules use.
bool keyword(std::string_view word) {
  static const std::set<std::string_view> kKeywords{
      "module",  "endmodule", "input", "output", "reg",  "wire",    "assign",  "always", "posedge",
      "negedge", "or",        "if",    "else",   "case", "default", "endcase", "begin",  "end"};
  return kKeywords.contains(word);
}

}  // namespace

std::string shape(std::string_view module) {
  std::map<std::string_view, size_t> order;
  std::string out;
  bool after_word = false;
  for (size_t i = 0; i < module.size();) {
    const size_t start = i;
    while (i < module.size() && word_char(module[i])) ++i;
    if (i == start) {
      const char c = module[i++];
      if (std::isspace(static_cast<unsigned char>(c)) != 0) continue;
      out += c;
      after_word = false;
      continue;
    }
    const std::string_view word = module.substr(start, i - start);
    // The letter after a quote belongs to a number: 2'd3.
    const bool number = std::isdigit(static_cast<unsigned char>(word[0])) != 0 ||
                        (start > 0 && module[start - 1] == '\'');
    if (after_word) out += ' ';
    after_word = true;
    if (number || keyword(word))
      out += word;
    else
      out += '#' + std::to_string(order.emplace(word, order.size()).first->second);
  }
  return out;
}

}  // namespace hone::verilog
