#include "verilog/draft.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/check.h"

namespace hone::verilog {
namespace {

std::string range(int64_t width) { return width == 1 ? "" : fmt::format("[{}:0]", width - 1); }

// "input a", "output reg [7:0] q".
std::string declaration(std::string_view direction, int64_t width, std::string_view name) {
  return width == 1 ? fmt::format("{} {}", direction, name)
                    : fmt::format("{} {} {}", direction, range(width), name);
}

std::string listed(const Names& items) {
  if (items.size() == 1) return items[0];
  const Names head(items.begin(), items.end() - 1);
  return fmt::format("{} and {}", fmt::join(head, ", "), items.back());
}

}  // namespace

Draft::Draft(Random& random, const Names& modules) : random_(random) {
  face_.module = random.pick(modules);
  static const Names kSuffixes{"", "", "_unit", "_block", "_core", "_top", "_m", "1", "2", "_x"};
  face_.module += random.pick(kSuffixes);
}

std::string Draft::name(const std::string& role, const Names& names) {
  check(!roles_.contains(role), "role {} is declared twice", role);
  Names free = names;
  std::erase_if(free, [&](const std::string& n) {
    return n == face_.module ||
           std::ranges::any_of(ports_, [&](const Declared& d) { return d.port.name == n; });
  });
  check(!free.empty(), "no name left for role {}", role);
  return roles_[role] = random_.pick(free);
}

void Draft::declare(std::string_view direction, const std::string& port, int64_t width,
                    double high) {
  ports_.push_back(
      {declaration(direction, width, port), direction != "input", {port, width, high}});
}

void Draft::input(const std::string& role, const Names& names, int64_t width, double high) {
  declare("input", name(role, names), width, high);
  face_.inputs.push_back(ports_.back().port);
}

void Draft::output(const std::string& role, const Names& names, int64_t width) {
  declare("output", name(role, names), width, 0);
  face_.outputs.push_back(ports_.back().port);
}

void Draft::output_reg(const std::string& role, const Names& names, int64_t width) {
  declare("output reg", name(role, names), width, 0);
  face_.outputs.push_back(ports_.back().port);
}

void Draft::operands(int64_t width) {
  static const std::vector<std::pair<std::string, std::string>> kPairs{
      {"a", "b"}, {"x", "y"}, {"in0", "in1"}, {"lhs", "rhs"}, {"p", "q"}, {"op_a", "op_b"}};
  const auto& [first, second] = random_.pick(kPairs);
  input("a", {first}, width);
  input("b", {second}, width);
}

void Draft::clocked(ResetStyle style) {
  face_.style = style;
  face_.clock = name("clk", {"clk", "clk", "clock"});
  declare("input", face_.clock, 1, 0);
  if (style == ResetStyle::kNone) return;
  face_.reset =
      active_low(style) ? name("rst", {"rst_n", "reset_n", "rstn"}) : name("rst", {"rst", "reset"});
  declare("input", face_.reset, 1, 0);
}

void Draft::clocked() {
  static const std::vector<ResetStyle> kStyles{ResetStyle::kSyncHigh, ResetStyle::kSyncLow,
                                               ResetStyle::kAsyncHigh, ResetStyle::kAsyncLow};
  clocked(random_.pick(kStyles));
}

void Draft::set(const std::string& role, const std::string& value) { roles_[role] = fill(value); }
void Draft::set(const std::string& role, int64_t value) { roles_[role] = std::to_string(value); }

// "<role>" becomes its value; any other "<" stays, so that Verilog's operators pass through.
std::string Draft::fill(std::string_view text) const {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const size_t end = text[i] == '<' ? text.find('>', i) : std::string_view::npos;
    const std::string role(end == std::string_view::npos ? "" : text.substr(i + 1, end - i - 1));
    const bool is_role = !role.empty() && std::ranges::all_of(role, [](unsigned char c) {
      return std::isalnum(c) != 0 || c == '_';
    });
    if (!is_role) {
      out += text[i];
      continue;
    }
    const auto found = roles_.find(role);
    check(found != roles_.end(), "nothing is called <{}> in \"{}\"", role, text);
    out += found->second;
    i = end;
  }
  return out;
}

void Draft::say(const Names& phrasings) {
  if (!prompt_.empty()) prompt_ += ' ';
  prompt_ += fill(random_.pick(phrasings));
}

void Draft::say_reset(const std::string& effect) {
  const bool low = active_low(face_.style);
  set("level", low ? 0 : 1);
  set("polarity", low ? "active-low" : "active-high");
  set("effect", fill(effect));
  if (asynchronous(face_.style))
    say({"<rst> is an asynchronous <polarity> reset: <effect>.",
         "Asynchronous <polarity> reset <rst>: <effect>.",
         "As soon as <rst> is <level>, without a clock edge, <effect>."});
  else
    say({"<rst> is a synchronous <polarity> reset: <effect>.",
         "Synchronous <polarity> reset <rst>: <effect>.",
         "If <rst> is <level> at the rising edge of <clk>, <effect> instead."});
}

void Draft::code(const std::string& text) { code_ += fill(text); }

void Draft::process(const std::string& reset, const std::string& update) {
  if (face_.style == ResetStyle::kNone)
    return code(fmt::format("  always @(posedge <clk>)\n    {}\n", update));
  const char* edge = !asynchronous(face_.style) ? ""
                     : active_low(face_.style)  ? " or negedge <rst>"
                                                : " or posedge <rst>";
  code(fmt::format("  always @(posedge <clk>{})\n    if ({}<rst>) {}\n    else {}\n", edge,
                   active_low(face_.style) ? "!" : "", reset, update));
}

// Name and ports, in one of four forms.
std::string Draft::interface_sentence() {
  Names inputs, outputs, plain;
  const int64_t form = random_.below(4);
  for (const Declared& d : ports_) {
    const Port& p = d.port;
    const std::string size = p.width == 1 ? "1 bit" : fmt::format("{} bits", p.width);
    Names& side = d.output ? outputs : inputs;
    if (form == 0) side.push_back(p.width == 1 ? p.name : fmt::format("{} ({})", p.name, size));
    if (form == 1) side.push_back(p.name + range(p.width));
    if (form == 2)
      side.push_back(p.width == 1 ? p.name : fmt::format("{}-bit {}", p.width, p.name));
    plain.push_back(declaration(d.output ? "output" : "input", p.width, p.name));
  }
  const char* in = inputs.size() == 1 ? "input" : "inputs";
  const char* out = outputs.size() == 1 ? "output" : "outputs";
  if (form == 0)
    return fmt::format("Write a Verilog module named {} with {} {} and {} {}.", face_.module, in,
                       listed(inputs), out, listed(outputs));
  if (form == 1)
    return fmt::format("Design the Verilog module {}. {}: {}. {}: {}.", face_.module,
                       inputs.size() == 1 ? "Input" : "Inputs", fmt::join(inputs, ", "),
                       outputs.size() == 1 ? "Output" : "Outputs", fmt::join(outputs, ", "));
  if (form == 2)
    return fmt::format("Create a Verilog module {}: {} {}; {} {}.", face_.module, in,
                       fmt::join(inputs, ", "), out, fmt::join(outputs, ", "));
  return fmt::format("Implement module {} in Verilog with ports {}.", face_.module,
                     fmt::join(plain, ", "));
}

Task Draft::task(const std::string& kind, const Model& model, const Plan& plan) {
  Names header;
  for (const bool output : {false, true})
    for (const Declared& d : ports_)
      if (d.output == output) header.push_back(d.text);
  const std::string ports = interface_sentence();
  return {.kind = kind,
          .prompt = fmt::format("{} {}", ports, prompt_),
          .module = fmt::format("module {}({});\n{}endmodule\n", face_.module,
                                fmt::join(header, ", "), code_),
          .testbench = bench(face_, model, plan, random_)};
}

}  // namespace hone::verilog
