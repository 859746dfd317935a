// Counters. All share the interface clock, reset, controls, count.
#include <fmt/format.h>

#include <bit>

#include "verilog/draft.h"
#include "verilog/families.h"

namespace hone::verilog {
namespace {

const Names kCounts{"q", "count", "cnt", "value"};
const Names kEnables{"en", "enable", "ce"};
constexpr double kOften = 0.8;

// The clock, the reset and, half the time, an enable (role "en").
bool clock_and_enable(Draft& d, Random& random) {
  d.clocked();
  const bool enable = random.below(2) == 0;
  if (enable) d.input("en", kEnables, 1, kOften);
  return enable;
}

// Says when it counts, e.g. what = "counts up by one".
void say_counting(Draft& d, const std::string& what, bool enable) {
  d.set("what", what);
  if (enable)
    d.say({"<q> <what> on each rising edge of <clk> while <en> is 1, else it holds.",
           "When <en> is high, <q> <what> at every rising edge of <clk>; otherwise <q> holds."});
  else
    d.say(
        {"<q> <what> on each rising edge of <clk>.", "At every rising edge of <clk>, <q> <what>."});
}

Task up_counter(Random& random) {
  Draft d(random, {"counter", "up_counter", "count_up", "cnt", "upcount"});
  const int64_t width = random.between(2, 8);
  const bool enable = clock_and_enable(d, random);
  d.output_reg("q", kCounts, width);
  say_counting(d, "counts up by one", enable);
  d.say({"It wraps around after the largest value.", "After all ones it wraps to 0."});
  d.say_reset("<q> becomes 0");
  d.process("<q> <= 0;", enable ? "if (<en>) <q> <= <q> + 1;" : "<q> <= <q> + 1;");
  const auto next = [=](const Bits& in, uint64_t q) {
    if (enable && in[0] == 0) return q;
    return q == mask(width) ? 0 : q + 1;
  };
  return d.task("up_counter", counted(next, 0), {.steps = 40 + (int64_t{2} << width)});
}

Task down_counter(Random& random) {
  Draft d(random, {"counter", "down_counter", "count_down", "cnt", "downcount"});
  const int64_t width = random.between(2, 8);
  const bool enable = clock_and_enable(d, random);
  d.output_reg("q", kCounts, width);
  say_counting(d, "counts down by one", enable);
  d.say({"It wraps around after 0.", "After 0 it wraps to all ones."});
  d.say_reset("<q> becomes 0");
  d.process("<q> <= 0;", enable ? "if (<en>) <q> <= <q> - 1;" : "<q> <= <q> - 1;");
  const auto next = [=](const Bits& in, uint64_t q) {
    if (enable && in[0] == 0) return q;
    return q == 0 ? mask(width) : q - 1;
  };
  return d.task("down_counter", counted(next, 0), {.steps = 40 + (int64_t{2} << width)});
}

Task modulo_counter(Random& random) {
  Draft d(random, {"mod_counter", "counter", "mod_n", "cycle_counter", "wrap_counter"});
  int64_t modulus = random.between(3, 60);
  if (std::has_single_bit(static_cast<uint64_t>(modulus))) ++modulus;  // those are plain counters
  const int64_t last = modulus - 1;
  const bool enable = clock_and_enable(d, random);
  d.output_reg("q", kCounts, std::bit_width(static_cast<uint64_t>(last)));
  d.set("last", last);
  d.set("modulus", modulus);
  say_counting(d, "counts up by one", enable);
  d.say({"After <last> it goes back to 0.", "It counts modulo <modulus>: 0 follows <last>."});
  d.say_reset("<q> becomes 0");
  const std::string update = "<q> <= (<q> == <last>) ? 0 : <q> + 1;";
  d.process("<q> <= 0;", enable ? "if (<en>) " + update : update);
  const auto next = [=](const Bits& in, uint64_t q) {
    if (enable && in[0] == 0) return q;
    return (q + 1) % static_cast<uint64_t>(modulus);
  };
  return d.task("modulo_counter", counted(next, 0), {.steps = 60 + 3 * modulus});
}

Task up_down_counter(Random& random) {
  Draft d(random, {"updown", "up_down", "bidir_counter", "counter", "updown_cnt"});
  const int64_t width = random.between(2, 7);
  const bool up = random.below(2) == 0;  // what 1 means
  d.clocked();
  d.input("dir", up ? Names{"up", "inc", "up_en"} : Names{"down", "dec", "down_en"});
  d.output_reg("q", kCounts, width);
  d.set("on1", up ? "up" : "down");
  d.set("on0", up ? "down" : "up");
  d.say(
      {"On each rising edge of <clk>, <q> counts <on1> by one if <dir> is 1 and <on0> by one if "
       "<dir> is 0.",
       "Every rising edge of <clk> changes <q> by one: <on1> when <dir> is 1, <on0> when it is "
       "0."});
  d.say({"It wraps around.", "It wraps in both directions."});
  d.say_reset("<q> becomes 0");
  d.process("<q> <= 0;",
            up ? "<q> <= <dir> ? <q> + 1 : <q> - 1;" : "<q> <= <dir> ? <q> - 1 : <q> + 1;");
  const auto next = [=](const Bits& in, uint64_t q) {
    return ((in[0] == 1) == up ? q + 1 : q + mask(width)) & mask(width);
  };
  return d.task("up_down_counter", counted(next, 0), {.steps = 300});
}

Task loadable_counter(Random& random) {
  Draft d(random, {"load_counter", "counter", "preset_counter", "loadable", "ld_cnt"});
  const int64_t width = random.between(2, 12);
  d.clocked();
  d.input("load", {"load", "ld", "set"}, 1, 0.3);
  d.input("d", {"d", "din", "data"}, width);
  d.output_reg("q", kCounts, width);
  d.say(
      {"On each rising edge of <clk>, <q> takes <d> if <load> is 1, else it counts up by one.",
       "At a rising edge of <clk>, <load> = 1 copies <d> to <q>; otherwise <q> increases by one."});
  d.say_reset("<q> becomes 0");
  d.process("<q> <= 0;", "if (<load>) <q> <= <d>;\n    else <q> <= <q> + 1;");
  const auto next = [=](const Bits& in, uint64_t q) {
    return in[0] == 1 ? in[1] : (q + 1) & mask(width);
  };
  return d.task("loadable_counter", counted(next, 0), {.steps = 300});
}

Task stopping_counter(Random& random) {
  Draft d(random, {"sat_counter", "stop_counter", "counter", "limit_count", "hold_counter"});
  const int64_t width = random.between(3, 7);
  const int64_t limit = random.between(3, static_cast<int64_t>(mask(width)) - 1);
  d.clocked();
  d.output_reg("q", kCounts, width);
  d.set("limit", limit);
  d.say(
      {"<q> counts up by one on each rising edge of <clk> and stops at <limit>.",
       "On each rising edge of <clk>, <q> increases by one until it is <limit>, where it stays."});
  d.say_reset("<q> becomes 0");
  d.process("<q> <= 0;", "if (<q> != <limit>) <q> <= <q> + 1;");
  const auto next = [=](const Bits&, uint64_t q) {
    return std::min(q + 1, static_cast<uint64_t>(limit));
  };
  return d.task("stopping_counter", counted(next, 0), {.steps = 60 + 2 * limit});
}

}  // namespace

const Kind kUpCounter{"up_counter", up_counter};
const Kind kDownCounter{"down_counter", down_counter};
const Kind kModuloCounter{"modulo_counter", modulo_counter};
const Kind kUpDownCounter{"up_down_counter", up_down_counter};
const Kind kLoadableCounter{"loadable_counter", loadable_counter};
const Kind kStoppingCounter{"stopping_counter", stopping_counter};

}  // namespace hone::verilog
