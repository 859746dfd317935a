// One layer of experts as a token is decoded: only the active experts' matrices are read, against a
// layer that computes every expert and picks afterwards. The sizes of a layer of Qwen3-30B-A3B by
// default. One JSON object a line; `ratio` is the median of the rounds' ratios, above 1 reading
// active experts only is faster.
//
//   ninja -C build/release bench_experts && build/release/src/engine/bench_experts [EXPERTS CHOSEN]
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <functional>

#include "base/random.h"
#include "base/stopwatch.h"
#include "engine/program.h"
#include "engine/weights.h"
#include "nn/moe.h"

namespace hone {
namespace {

constexpr int64_t kHidden = 2048, kFfw = 768;
constexpr int kRounds = 9;

struct Sizes {
  int64_t experts = 128, chosen = 8;
};

// A forward pass of `tokens` tokens and its weights.
struct Layer {
  Layer(const engine::Device& device, const Sizes& sizes, int64_t tokens, const nn::Store& store,
        const std::function<Value(nn::Params&, Value x, Value logits)>& build,
        const engine::Buffers& weights)
      : program(make(device, sizes, tokens, store, build)), buffers(weights) {}

  static engine::Program make(
      const engine::Device& device, const Sizes& sizes, int64_t tokens, const nn::Store& store,
      const std::function<Value(nn::Params&, Value x, Value logits)>& build) {
    Graph g;
    nn::Params params{.graph = g};
    params.store = [&](const std::string&, bool) -> const nn::Store& { return store; };
    const Value x = g.parameter("x", {DType::kF32, {tokens, kHidden}});
    const Value logits = g.parameter("logits", {DType::kF32, {tokens, sizes.experts}});
    return engine::Program(device, g, {{build(params, x, logits)}});
  }

  double seconds(const engine::Buffers& inputs) const {
    const Stopwatch clock;
    const auto out = program.run([&](const std::string& name) -> pjrt::Arg {
      const auto it = inputs.find(name);
      return it != inputs.end() ? it->second : buffers.at(name);
    });
    pjrt::to_host<float>(out[0]);
    return clock.seconds();
  }

  engine::Program program;
  const engine::Buffers& buffers;
};

Value grouped(const Sizes& sizes, nn::Params& params, Value x, Value logits) {
  const nn::Experts experts(nn::Scope(params, "experts"), kHidden, kFfw, sizes.experts, silu);
  return experts(x, nn::route(logits, sizes.chosen, true, {}));
}

// Every expert of every token, weighted by zero where it was not chosen.
Value every(const Sizes& sizes, nn::Params& params, Value x, Value logits) {
  const nn::Scope p(params, "experts");
  Graph& g = *x.graph;
  auto weight = [&](int64_t rows, int64_t columns, const char* leaf) {
    return convert(p.stack({"", sizes.experts}, {"", rows}, {"", columns}, leaf).held(g),
                   DType::kF32);
  };
  const Value both = einsum("td,efd->tef", x, weight(2 * kFfw, kHidden, "gate_up_proj"));
  const Value inner = silu(slice(both, 2, 0, kFfw)) * slice(both, 2, kFfw, 2 * kFfw);
  const Value answers = einsum("tef,edf->ted", inner, weight(kHidden, kFfw, "down_proj"));
  const nn::Routing routing = nn::route(logits, sizes.chosen, true, {});
  const Dims table{x.dim(0), sizes.chosen, sizes.experts};
  const Value number = iota(g, table, 2, DType::kS32);
  const Value mine = compare(number, Compare::kEq, broadcast(routing.experts, table, {0, 1}));
  const Value share = sum(
      select(mine, broadcast(routing.weights, table, {0, 1}), constant(g, {DType::kF32, table}, 0)),
      {1});
  return einsum("ted,te->td", answers, share);
}

// Random values in the store's type; small, so that nothing overflows or is denormal.
pjrt::Buffer random_weight(const engine::Device& device, const Type& t, Random& random) {
  auto memory = pjrt::allocate_host(t.bytes());
  const size_t width = byte_size(t.dtype);
  std::vector<std::byte> row(width * 65536);
  for (size_t i = 0; i < row.size(); i += width) {
    const auto v = static_cast<float>(random.uniform(-0.03, 0.03));
    // bf16 is the upper half of an f32.
    std::memcpy(&row[i], reinterpret_cast<const std::byte*>(&v) + (sizeof v - width), width);
  }
  for (size_t at = 0; at < t.bytes(); at += row.size())
    std::memcpy(&memory.bytes[at], row.data(), std::min(row.size(), t.bytes() - at));
  return device.client().share_with_device(t, memory.bytes, memory.owner);
}

double median(std::vector<double> v) {
  std::ranges::sort(v);
  return v[v.size() / 2];
}

void measure(const engine::Device& device, const Sizes& sizes, int64_t tokens,
             const nn::Store& store) {
  Random random(1);
  const DType held = store.parts({1, 1})[0].type.dtype;
  engine::Buffers weights;
  weights["experts.gate_up_proj"] =
      random_weight(device, {held, {sizes.experts, 2 * kFfw, kHidden}}, random);
  weights["experts.down_proj"] =
      random_weight(device, {held, {sizes.experts, kHidden, kFfw}}, random);
  using namespace std::placeholders;
  const Layer active(device, sizes, tokens, store, std::bind(grouped, sizes, _1, _2, _3), weights);
  const Layer all(device, sizes, tokens, store, std::bind(every, sizes, _1, _2, _3), weights);
  std::vector<double> a, b, ratios;
  for (int round = 0; round <= kRounds; ++round) {
    engine::Buffers inputs;  // other experts each time
    auto numbers = [&](int64_t columns) {
      std::vector<float> v;
      for (int64_t i = 0; i < tokens * columns; ++i)
        v.push_back(static_cast<float>(random.normal()));
      return device.client().to_device<float>({tokens, columns}, std::span<const float>(v));
    };
    inputs["x"] = numbers(kHidden);
    inputs["logits"] = numbers(sizes.experts);
    double first = 0, second = 0;
    if (round % 2 == 0) first = active.seconds(inputs);
    second = all.seconds(inputs);
    if (round % 2 != 0) first = active.seconds(inputs);
    if (round == 0) continue;  // warm-up
    a.push_back(first);
    b.push_back(second);
    ratios.push_back(second / first);
  }
  const double bytes = static_cast<double>(sizes.chosen * tokens * 3 * kFfw * kHidden) *
                       static_cast<double>(byte_size(held));
  std::printf(
      "{\"what\": \"experts\", \"experts\": %lld, \"chosen\": %lld, \"tokens\": %lld, \"held\": "
      "\"%s\", \"active_ms\": %.2f, \"every_ms\": %.2f, \"ratio\": %.2f, \"ratio_min\": %.2f, "
      "\"ratio_max\": %.2f, \"active_gb_per_second\": %.1f}\n",
      static_cast<long long>(sizes.experts), static_cast<long long>(sizes.chosen),
      static_cast<long long>(tokens), std::string(name(held)).c_str(), median(a) * 1e3,
      median(b) * 1e3, median(ratios), *std::ranges::min_element(ratios),
      *std::ranges::max_element(ratios), bytes / median(a) / 1e9);
  std::fflush(stdout);
}

}  // namespace
}  // namespace hone

int main(int argc, char** argv) {
  hone::Sizes sizes;
  if (argc == 3) sizes = {std::stoll(argv[1]), std::stoll(argv[2])};
  const auto device = hone::engine::Device::open();
  for (const hone::nn::Store* store : {&hone::nn::kStoreBF16, &hone::nn::kStoreF32})
    hone::measure(device, sizes, 1, *store);
}
