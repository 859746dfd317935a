// Gemma 4's layers as a loop over groups of a kind: loss and gradients of the unrolled layers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "engine/forward.h"
#include "engine/model.h"
#include "engine/program.h"
#include "ir/clone.h"
#include "ir/grad.h"
#include "nn/loss.h"
#include "ops/ops.h"

namespace hone::engine {
namespace {

constexpr int64_t kPeriod = 3, kGroups = 2;  // of gemma4_text_tiny
constexpr double kTolerance = 1e-4;          // relative to a gradient's largest element, f32

// The weight that layer + shift has where layer I has `label`, "model.layers.I.rest".
Value shifted(const Graph& g, const std::string& label, int64_t shift) {
  const size_t number = std::string("model.layers.").size(), dot = label.find('.', number);
  const int64_t layer = std::stoll(label.substr(number, dot - number)) + shift;
  const std::string wanted = fmt::format("model.layers.{}{}", layer, label.substr(dot));
  const auto it = std::ranges::find(g.parameters(), wanted, [](Value v) { return nn::label(v); });
  if (it == g.parameters().end()) throw ShapeError("no weight {}", wanted);
  return *it;
}

// The weights of the first group's layers.
Values weights_of_group(const Graph& g) {
  Values weights;
  for (int64_t i = 0; i < kPeriod; ++i)
    for (const Value& p : g.parameters())
      if (nn::label(p).starts_with(fmt::format("model.layers.{}.", i))) weights.push_back(p);
  return weights;
}

// The layers as a scan whose body is the first group, its weights those of each group in turn.
Value scanned(Graph& g, const Decoder& d, Value x, const nn::Context& ctx) {
  Body group{std::make_unique<Graph>(&g), {}};
  Values state{group.graph->parameter("", x.type())};
  for (int64_t i = 0; i < kPeriod; ++i) state = d.layers[static_cast<size_t>(i)](state, ctx);
  group.outs = {group.graph->capture(state[0])};

  const Values weights = weights_of_group(g);
  Values stacks;
  for (const Value& w : weights) {
    Dims one = w.dims();
    one.insert(one.begin(), 1);
    Values parts;
    for (int64_t k = 0; k < kGroups; ++k)
      parts.push_back(reshape(shifted(g, nn::label(w), k * kPeriod), one));
    stacks.push_back(concat(parts, 0));
  }
  const Values mentioned = group.graph->captured();  // weights, what is made of them, and masks
  const auto body = [&](const Values& carry, const Values& own) -> ScanStep {
    Graph& inside = *carry[0].graph;
    Known known;
    for (size_t i = 0; i < weights.size(); ++i) known[{weights[i].id, 0}] = own[i];
    Values args{carry[0]};
    for (const Value& v : mentioned) {
      const std::vector<bool> needs = reachable(g, {{v}});
      const bool of_weights =
          std::ranges::any_of(weights, [&](Value w) { return needs[static_cast<size_t>(w.id)]; });
      args.push_back(of_weights ? clone(g, {{v}}, inside, known)[0] : inside.capture(v));
    }
    return {inline_body(group, args, inside), {}};
  };
  return scan(g, kGroups, {x}, stacks, body).carry[0];
}

struct Result {
  bool has_loop;
  std::vector<std::string> names;
  std::vector<std::vector<float>> values;  // the loss, then a gradient a name
};

Result run(const ModelFiles& files, const Device& device, bool scan_groups) {
  Graph g;
  nn::Params params{.graph = g, .tuning = {.lora = {}, .whole = {"all"}}};
  const Dims dims{2, 12};
  std::vector<double> ids, labels;
  for (int i = 0; i < 24; ++i) {
    ids.push_back((i * 37) % 128);
    labels.push_back((i * 53 + 7) % 128);
  }
  const Value tokens = literal(g, {DType::kS32, dims}, ids);
  const Decoder d = files.build(nn::Scope(params));
  const Value positions = iota(g, dims, 1, DType::kS32);
  const auto ctx = nn::Context::of_sequences(positions, constant_like(positions, 1));
  Values state = d.embed(tokens);
  if (scan_groups)
    state = {scanned(g, d, state[0], ctx)};
  else
    for (const Decoder::Layer& layer : d.layers) state = layer(state, ctx);
  const Value logits = d.head(reshape(d.norm(state[0]), {24, 32}));
  const Value loss =
      -sum(nn::log_probability(logits, literal(g, {DType::kS32, {24}}, labels)), {0}) / 24;
  Values outs{loss}, wrt;
  Result r;
  for (const nn::Weight& w : params.trained) {
    wrt.push_back(w.value);
    r.names.push_back(w.name);
  }
  for (const Value& v : grad(loss, wrt)) outs.push_back(v);
  r.has_loop = emit(g, outs).find("stablehlo.while") != std::string::npos;
  const Buffers frozen = load_weights(device, files, params);
  const Buffers trained = new_trained(device, files, params, frozen, /*seed=*/0);
  const Program program(device, g, outs);
  for (const pjrt::Buffer& b : program.run([&](const std::string& name) -> pjrt::Arg {
         const auto it = trained.find(name);
         return it == trained.end() ? frozen.at(name) : it->second;
       }))
    r.values.push_back(pjrt::to_host<float>(b));
  return r;
}

TEST(ScanLayers, GroupsOfGemma4GiveTheUnrolledLossAndGradients) {
  const Device device = Device::open();
  const ModelFiles files("tests/golden/gemma4_text_tiny");
  const Result unrolled = run(files, device, false), loop = run(files, device, true);
  EXPECT_TRUE(loop.has_loop);
  EXPECT_FALSE(unrolled.has_loop);
  EXPECT_NEAR(loop.values[0][0], unrolled.values[0][0], 1e-6);
  ASSERT_EQ(unrolled.values.size(), unrolled.names.size() + 1);
  double worst = 0;
  for (size_t i = 0; i < unrolled.names.size(); ++i) {
    const auto &want = unrolled.values[i + 1], &got = loop.values[i + 1];
    double difference = 0, size = 1e-30;
    for (size_t j = 0; j < want.size(); ++j) {
      difference = std::max(difference, static_cast<double>(std::abs(got[j] - want[j])));
      size = std::max(size, static_cast<double>(std::abs(want[j])));
    }
    EXPECT_GT(size, 1e-8) << unrolled.names[i];
    EXPECT_LE(difference / size, kTolerance) << unrolled.names[i];
    worst = std::max(worst, difference / size);
  }
  std::printf("%zu gradients within %.1e\n", unrolled.names.size(), worst);
  EXPECT_GE(unrolled.names.size(), 70u);
}

}  // namespace
}  // namespace hone::engine
