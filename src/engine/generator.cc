#include "engine/generator.h"

#include <algorithm>

#include "base/stopwatch.h"
#include "engine/forward.h"
#include "ops/ops.h"

namespace hone::engine {
namespace {

int64_t round_up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

// Shapes are rounded up to these, so that prompts of like length share a compiled program.
constexpr int64_t kPromptStep = 32, kSlotStep = 128;

std::string cache_name(size_t layer, char part) { return fmt::format("cache.{}.{}", layer, part); }

}  // namespace

// Of one run: `width` places for the prompts, in chunks, and some for what is new.
struct Generator::Sizes {
  int64_t batch, chunk, width, places;

  Sizes(int64_t rows, int64_t longest, int64_t new_tokens, int64_t most) : batch(rows) {
    const int64_t chunks = (longest + most - 1) / most;
    chunk = round_up((longest + chunks - 1) / chunks, std::min(kPromptStep, most));
    width = chunks * chunk;
    places = round_up(width + new_tokens, kSlotStep);
  }

  Type cache(const ModelShape::KvHeads& kv) const {
    const int64_t slots = nn::cache_slots(kv.window, chunk, places);
    return {DType::kF32, {batch, kv.heads, slots, kv.head_dim}};
  }
};

// One call of the model on [batch, tokens] new tokens.
struct Generator::Step {
  int64_t batch, tokens;
  Program program;

  static Program build(const Model& model, const Sizes& sizes, int64_t tokens) {
    Graph g;
    const int64_t batch = sizes.batch;
    const Value ids = g.parameter("tokens", {DType::kS32, {batch, tokens}});
    const Value start = g.parameter("start", {DType::kS32, {batch}});
    nn::KvCache cache{g.parameter("at", {DType::kS32, {}}), {}};
    Program::Donated donated;
    const ModelShape& shape = model.files.shape();
    for (size_t i = 0; i < shape.kv.size(); ++i) {
      const Type t = sizes.cache(shape.kv[i]);
      cache.layers.push_back(
          {g.parameter(cache_name(i, 'k'), t), g.parameter(cache_name(i, 'v'), t)});
      donated.emplace_back(cache.layers[i].k, static_cast<int>(1 + 2 * i));
      donated.emplace_back(cache.layers[i].v, static_cast<int>(2 + 2 * i));
    }
    nn::Params params{.graph = g, .tuning = model.tuning};
    const Decoder decoder = model.build(params);

    const Value x = hidden_states(decoder, ids, nn::Context::of_cache(start, cache, tokens));
    const Value last = reshape(slice(x, 1, tokens - 1, tokens), {batch, x.dim(2)});
    Values outs{convert(decoder.head(last), DType::kF32)};
    for (const nn::KvCache::Layer& layer : cache.layers)
      outs.insert(outs.end(), {layer.k, layer.v});
    return Program(model.device, g, outs, donated);
  }

  // Runs and returns the last position's logits; the cache is replaced by its updated self.
  std::vector<float> run(const Model& model, Buffers& cache, std::span<const int32_t> ids,
                         std::span<const int32_t> start, int32_t at) const {
    const pjrt::Client& client = model.device.client();
    Buffers inputs;
    inputs["tokens"] = client.to_device<int32_t>({batch, tokens}, ids);
    inputs["start"] = client.to_device<int32_t>({batch}, start);
    inputs["at"] = client.to_device<int32_t>({}, std::span(&at, 1));
    std::vector<pjrt::Buffer> outs = program.run([&](const std::string& name) -> pjrt::Arg {
      if (auto it = cache.find(name); it != cache.end()) return std::move(it->second);
      if (auto it = inputs.find(name); it != inputs.end()) return it->second;
      return model.weight(name);
    });
    for (size_t i = 0; i + 1 < outs.size(); ++i)
      cache[cache_name(i / 2, i % 2 == 0 ? 'k' : 'v')] = std::move(outs[i + 1]);
    return pjrt::to_host<float>(outs[0]);
  }
};

Generator::Step Generator::step(const Sizes& sizes, int64_t tokens) {
  Step s{sizes.batch, tokens, Step::build(model_, sizes, tokens)};
  times_.compile_seconds += s.program.compile_seconds();
  return s;
}

std::vector<std::vector<int32_t>> Generator::run(const std::vector<std::vector<int32_t>>& prompts,
                                                 const GenerateOptions& options,
                                                 const OnToken& on_token) {
  times_ = {};
  const ModelShape& shape = model_.files.shape();
  int64_t longest = 0;
  for (const auto& p : prompts) {
    if (p.empty()) throw ConfigError("the prompt has no tokens");
    for (int32_t id : p)
      if (id < 0 || id >= shape.vocab)
        throw ConfigError("the prompt's token {} is outside the model's vocabulary of {}", id,
                          shape.vocab);
    longest = std::max(longest, static_cast<int64_t>(p.size()));
  }
  if (longest >= shape.max_positions)
    throw ConfigError("the prompt has {} tokens and the model's context is {}; shorten the prompt",
                      longest, shape.max_positions);
  const int64_t new_tokens = std::min(options.max_new_tokens, shape.max_positions - longest);
  const Sizes sizes(std::ssize(prompts), longest, new_tokens, options.chunk);
  const int64_t width = sizes.width;

  const Step prefill = step(sizes, sizes.chunk), decode = step(sizes, 1);
  Buffers cache;
  for (size_t i = 0; i < shape.kv.size(); ++i) {
    const Type t = sizes.cache(shape.kv[i]);
    const std::vector<std::byte> zeros(t.bytes());
    for (char part : {'k', 'v'})
      cache[cache_name(i, part)] = model_.device.client().to_device(t, zeros);
  }
  std::vector<int32_t> start;
  for (const auto& p : prompts) {
    start.push_back(static_cast<int32_t>(width - std::ssize(p)));
    times_.prefill_tokens += std::ssize(p);
  }

  const Stopwatch prefill_clock;
  std::vector<float> logits;
  for (int64_t at = 0; at < width; at += sizes.chunk) {
    std::vector<int32_t> ids;
    for (size_t r = 0; r < prompts.size(); ++r)
      for (int64_t place = at; place < at + sizes.chunk; ++place)
        ids.push_back(place < start[r] ? 0 : prompts[r][static_cast<size_t>(place - start[r])]);
    logits = prefill.run(model_, cache, ids, start, static_cast<int32_t>(at));
  }
  times_.prefill_seconds = prefill_clock.seconds();
  const Stopwatch decode_clock;

  std::vector<std::vector<int32_t>> result(prompts.size());
  std::vector<Random> random;
  for (size_t r = 0; r < prompts.size(); ++r)
    random.emplace_back(Random(options.sampling.seed + r * 0x9e3779b9).bits());
  std::vector<bool> ended(prompts.size(), false);
  for (int64_t made = 0; made < new_tokens; ++made) {
    std::vector<int32_t> next(prompts.size(), 0);
    for (size_t r = 0; r < prompts.size(); ++r) {
      if (ended[r]) continue;
      const std::span row(logits.data() + r * static_cast<size_t>(shape.vocab),
                          static_cast<size_t>(shape.vocab));
      next[r] = sample(row, options.sampling, random[r]);
      ended[r] = std::ranges::find(options.stop_tokens, next[r]) != options.stop_tokens.end();
      if (ended[r]) continue;
      result[r].push_back(next[r]);
      ended[r] = on_token && !on_token(r, next[r]);
    }
    const bool done = std::ranges::all_of(ended, [](bool e) { return e; });
    if (done || made + 1 == new_tokens) break;
    logits = decode.run(model_, cache, next, start, static_cast<int32_t>(width + made));
    ++times_.decode_steps;
  }
  times_.decode_seconds = decode_clock.seconds();
  return result;
}

}  // namespace hone::engine
