#include "verilog/bench.h"

#include <fmt/format.h>

#include <numeric>

#include "base/check.h"

namespace hone::verilog {
namespace {

constexpr int64_t kExhaustiveBits = 10;
constexpr int64_t kResetSteps = 2;

struct Step {
  Bits in = {};
  bool reset = false;
  Bits before = {}, after = {};  // the outputs with the clock low, and after the rising edge
};

int64_t bits_of(const std::vector<Port>& ports) {
  return std::accumulate(ports.begin(), ports.end(), int64_t{0},
                         [](int64_t sum, const Port& p) { return sum + p.width; });
}

// Vectors as one constant, the first at the low end: hex digits from the last vector to the first.
class Constant {
 public:
  void append(uint64_t value, int64_t width) {
    for (int64_t i = 0; i < width; ++i) bits_.push_back((value >> i & 1) != 0);
  }
  std::string str() const {
    std::string hex;
    for (size_t digit = (bits_.size() + 3) / 4; digit-- > 0;) {
      unsigned value = 0;
      for (size_t bit = 0; bit < 4 && digit * 4 + bit < bits_.size(); ++bit)
        value |= static_cast<unsigned>(bits_[digit * 4 + bit]) << bit;
      hex += "0123456789abcdef"[value];
    }
    return fmt::format("{}'h{}", bits_.size(), hex);
  }

 private:
  std::vector<bool> bits_;
};

// {a, b} = slice: the last port has the low bits.
void append(Constant& to, const std::vector<Port>& ports, const Bits& values) {
  for (size_t i = ports.size(); i-- > 0;) to.append(values[i], ports[i].width);
}

Bits split(uint64_t packed, const std::vector<Port>& ports) {
  Bits values(ports.size());
  for (size_t i = ports.size(); i-- > 0; packed >>= ports[i].width)
    values[i] = packed & mask(ports[i].width);
  return values;
}

// Uniform values would never meet a == b, 0 or all ones on wide ports; half the draws aim there.
Bits draw(const std::vector<Port>& ports, Random& random) {
  Bits values;
  for (const Port& port : ports) {
    uint64_t value = random.bits();
    const int64_t choice = random.below(8);
    if (port.width == 1)
      value = random.uniform() < port.high ? 1 : 0;
    else if (choice < 2 && !values.empty())
      value = values.back() + static_cast<uint64_t>(random.between(-1, 1));
    else if (choice == 2)
      value = uint64_t{1} << random.below(port.width);
    else if (choice == 3)
      value = random.below(2) == 0 ? 0 : ~uint64_t{0};
    values.push_back(value & mask(port.width));
  }
  return values;
}

std::vector<Step> drive_all(const std::vector<Port>& ports) {
  std::vector<Step> steps;
  for (uint64_t value = 0; value <= mask(bits_of(ports)); ++value)
    steps.push_back({.in = split(value, ports)});
  return steps;
}

// Reset holds for the first two steps, stays away long enough for counters to wrap, and comes back
// at random in the last third.
std::vector<Step> drive_some(const Interface& face, const Plan& plan, Random& random) {
  const bool has_reset = face.style != ResetStyle::kNone;
  const int64_t lead = has_reset ? kResetSteps : 0;
  std::vector<Step> steps;
  for (int64_t i = 0; i < plan.steps; ++i) {
    Step step{.in = draw(face.inputs, random)};
    const bool opening = i >= lead && i - lead < std::ssize(plan.opening);
    if (opening) step.in = plan.opening[static_cast<size_t>(i - lead)];
    step.reset = has_reset && (i < lead || (i > plan.steps * 2 / 3 && random.below(4) == 0));
    steps.push_back(std::move(step));
  }
  return steps;
}

void answer(std::vector<Step>& steps, const Interface& face, const Model& model) {
  uint64_t state = model.reset_state;
  for (Step& step : steps) {
    if (step.reset && asynchronous(face.style)) state = model.reset_state;
    step.before = model.outputs(step.in, state);
    check(step.before.size() == face.outputs.size(), "{}: model gives {} outputs", face.module,
          step.before.size());
    if (!model.next) continue;
    state = step.reset ? model.reset_state : model.next(step.in, state);
    step.after = model.outputs(step.in, state);
  }
}

std::string declarations(const Interface& face) {
  const auto declare = [](std::string_view net, const Port& p) {
    return p.width == 1 ? fmt::format("  {} {};\n", net, p.name)
                        : fmt::format("  {} [{}:0] {};\n", net, p.width - 1, p.name);
  };
  std::string text;
  if (!face.clock.empty()) text += fmt::format("  reg {} = 0;\n", face.clock);
  if (!face.reset.empty()) text += fmt::format("  reg {};\n", face.reset);
  for (const Port& p : face.inputs) text += declare("reg", p);
  for (const Port& p : face.outputs) text += declare("wire", p);
  return text;
}

// "a, b, c", each through `format`.
std::string join(const std::vector<std::string>& names, const char* format) {
  std::string text;
  for (const std::string& name : names)
    text += (text.empty() ? "" : ", ") + fmt::format(fmt::runtime(format), name);
  return text;
}

// Icarus pads and cuts ports of another width with no more than a warning.
std::string width_checks(const std::vector<Port>& ports) {
  std::string text;
  for (const Port& p : ports)
    text += fmt::format(
        "    if ($bits(tb_dut.{0}) != {1}) begin\n"
        "      $display(\"MISMATCH port {0} has %0d bits, want {1}\", $bits(tb_dut.{0}));\n"
        "      tb_errors = 1;\n    end\n",
        p.name, p.width);
  return text;
}

std::vector<std::string> names(const std::vector<Port>& ports) {
  std::vector<std::string> all;
  for (const Port& p : ports) all.push_back(p.name);
  return all;
}

struct Tables {
  Constant drive, before, after;
};

Tables tables(const std::vector<Step>& steps, const Interface& face) {
  Tables t;
  for (const Step& step : steps) {
    if (!face.reset.empty()) t.drive.append(step.reset != active_low(face.style) ? 1 : 0, 1);
    append(t.drive, face.inputs, step.in);
    append(t.before, face.outputs, step.before);
    if (!face.clock.empty()) append(t.after, face.outputs, step.after);
  }
  return t;
}

constexpr const char* kCompare =
    R"(      if (tb_i >= {skip} && {{{outs}}} !== {table}[tb_i*{width} +: {width}]) begin
        if (tb_errors == 0)
          $display("MISMATCH step %0d: got %h, want %h", tb_i, {{{outs}}}, {table}[tb_i*{width} +: {width}]);
        tb_errors = tb_errors + 1;
      end
)";

}  // namespace

std::string bench(const Interface& face, const Model& model, const Plan& plan, Random& random) {
  const bool clocked = !face.clock.empty();
  const int64_t in_bits = bits_of(face.inputs), out_bits = bits_of(face.outputs);
  check(in_bits <= 63 && out_bits <= 63, "{}: ports are too wide for a bench", face.module);
  std::vector<Step> steps = !clocked && in_bits <= kExhaustiveBits ? drive_all(face.inputs)
                                                                   : drive_some(face, plan, random);
  answer(steps, face, model);

  std::vector<std::string> driven = names(face.inputs);
  if (!face.reset.empty()) driven.push_back(face.reset);
  std::vector<std::string> ports = driven;
  if (clocked) ports.push_back(face.clock);
  for (const Port& p : face.outputs) ports.push_back(p.name);
  const int64_t drive_bits = in_bits + (face.reset.empty() ? 0 : 1);
  const int64_t skip = clocked ? (face.reset.empty() ? 0 : 1) + plan.unchecked : 0;
  const auto compare = [&](const char* table) {
    return fmt::format(kCompare, fmt::arg("skip", skip), fmt::arg("table", table),
                       fmt::arg("outs", join(names(face.outputs), "{}")),
                       fmt::arg("width", out_bits));
  };
  const Tables t = tables(steps, face);
  const auto constant = [](const char* name, const Constant& c) {
    const std::string value = c.str();
    return fmt::format("  localparam [{}-1:0] {} =\n    {};\n", value.substr(0, value.find('\'')),
                       name, value);
  };

  std::string text = fmt::format("module tb_{};\n", kNonce);
  text += constant("tb_drive", t.drive) + constant("tb_before", t.before);
  if (clocked) text += constant("tb_after", t.after);
  text += declarations(face);
  text += "  integer tb_i, tb_errors;\n";
  text += fmt::format("  {} tb_dut({});\n", face.module, join(ports, ".{0}({0})"));
  // An instance by position must have as many ports as the module: no port more than asked for.
  text += fmt::format("  {} tb_count({});\n", face.module, std::string(ports.size() - 1, ','));
  text += "  initial begin\n    tb_errors = 0;\n";
  std::vector<Port> all = face.inputs;
  all.insert(all.end(), face.outputs.begin(), face.outputs.end());
  for (const std::string& one_bit : {face.clock, face.reset})
    if (!one_bit.empty()) all.push_back({.name = one_bit});
  text += width_checks(all);
  text += fmt::format("    for (tb_i = 0; tb_i < {}; tb_i = tb_i + 1) begin\n", steps.size());
  text += fmt::format("      {{{}}} = tb_drive[tb_i*{} +: {}];\n      #1;\n", join(driven, "{}"),
                      drive_bits, drive_bits);
  text += compare("tb_before");
  if (clocked)
    text += fmt::format("      {0} = 1;\n      #1;\n{1}      {0} = 0;\n      #1;\n", face.clock,
                        compare("tb_after"));
  text += "    end\n";
  text += fmt::format("    if (tb_errors == 0) $display(\"PASS {}\"); else $display(\"FAIL\");\n",
                      kNonce);
  text += "    $finish(0);\n  end\n";
  text +=
      fmt::format("  initial begin\n    #{};\n    $display(\"TIMEOUT\");\n    $finish(0);\n  end\n",
                  steps.size() * 3 + 10);
  return text + "endmodule\n";
}

}  // namespace hone::verilog
