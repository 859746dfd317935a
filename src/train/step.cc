#include "train/step.h"

#include <cmath>

#include "base/random.h"
#include "ir/grad.h"
#include "ops/ops.h"
#include "train/forward_loss.h"

namespace hone::train {
namespace {

constexpr size_t kNumberOutputs = 5;  // loss, norm, count, updated, norms; then metrics

// The sums of an objective and the gradients of its loss, over the micro-batches.
struct Accumulated {
  Value loss, count;
  Values metrics, gradients;

  explicit Accumulated(const Values& v, size_t metric_count)
      : loss(v[0]),
        count(v[1]),
        metrics(v.begin() + 2, v.begin() + 2 + static_cast<long>(metric_count)),
        gradients(v.begin() + 2 + static_cast<long>(metric_count), v.end()) {}
};

Accumulated accumulate(Graph& g, const std::function<Values(const BatchInputs&, Value key)>& part,
                       const BatchInputs& batch, Value keys, const Values& trained,
                       size_t metric_count) {
  auto key_at = [](Value row) { return row ? reshape(row, {2}) : Value{}; };
  if (batch.tokens.dim(0) == 1) return Accumulated(part(batch.first(), key_at(keys)), metric_count);
  Values init(2 + metric_count, constant(g, {DType::kF32, {}}, 0.0));
  for (const Value& w : trained) init.push_back(zeros_like(w));
  Values each = batch.all();
  if (keys) each.push_back(keys);
  const ScanResult r =
      scan(g, batch.tokens.dim(0), init, each, [&](const Values& carry, Values x) -> ScanStep {
        Value key;
        if (keys) {
          key = key_at(x.back());
          x.pop_back();
        }
        ScanStep next{part(BatchInputs::of(x), key), {}};
        for (size_t i = 0; i < carry.size(); ++i) next.carry[i] = carry[i] + next.carry[i];
        return next;
      });
  return Accumulated(r.carry, metric_count);
}

// The objective's sum with the load-balance loss of the micro-batch's routers, which is a mean: it
// counts as much as the micro-batch's targets do.
Value with_balance(const Objective::Sums& s, const nn::Balance& balance, double weight) {
  if (weight == 0) return s.loss;
  if (balance.routers.empty())
    throw ConfigError(
        "objective.router_aux_loss_coef is {}, but the model has no experts; leave it out", weight);
  return s.loss + balance.loss() * s.count * weight;
}

Value sum_of_squares(Value v) {
  Dims axes;
  for (int64_t i = 0; i < v.rank(); ++i) axes.push_back(i);
  return sum(v * v, axes);
}

// The factor that brings the global norm down to `clip`, at most 1; clip 0 means no clipping.
Value clip_factor(Value norm, double clip) {
  if (clip <= 0) return constant_like(norm, 1.0);
  return minimum(constant_like(norm, clip) / (norm + 1e-6), constant_like(norm, 1.0));
}

// Norms and biases are not decayed.
double decay_of(const OptimRecipe& r, const Type& t) { return t.rank() < 2 ? 0 : r.weight_decay; }

// LoRA+ (Hayou et al., arXiv:2402.12354).
double rate_factor(const AdapterRecipe& r, const std::string& name) {
  return r.variant == "loraplus" && name.ends_with("lora_B.weight") ? r.loraplus_ratio : 1.0;
}

Values scalars(Value vector) {
  Values v;
  for (int64_t i = 0; i < vector.dim(0); ++i) v.push_back(reshape(slice(vector, 0, i, i + 1), {}));
  return v;
}

// The arrays that a step replaces, each in the memory of its old self: weights and their states.
struct Replaced {
  Graph& g;
  const engine::Device& device;
  Value keep;  // false: everything stays as it was
  Values outs;
  engine::Program::Donated donated = {};
  std::vector<std::string> names = {};  // of outs, from the first that add() put there
  engine::Buffers state = {};           // at the start

  void add(const std::string& name, Value now, Value next) {
    donated.emplace_back(now, static_cast<int>(outs.size()));
    outs.push_back(select(broadcast(keep, now.dims(), {}), next, now));
    names.push_back(name);
  }
  Value parameter(const std::string& name, const Type& type, pjrt::Buffer start) {
    state[name] = std::move(start);
    return g.parameter(name, type);
  }
};

void add_update(Replaced& r, const Recipe& recipe, const std::string& name,
                const pjrt::Buffer& start, Optimizer::Now now) {
  const Optimizer& optimizer = optimizer_of(recipe.optim.kind);
  const auto slots = optimizer.slots(recipe.optim, now.weight.type());
  std::vector<std::string> slot_names;
  for (const Optimizer::Slot& s : slots) {
    slot_names.push_back(fmt::format("{}.{}", s.name, name));
    now.slots.push_back(
        r.parameter(slot_names.back(), s.type, engine::filled(r.device, s.type, s.start)));
  }
  const Optimizer::Update next = optimizer.update(recipe.optim, now);
  r.add(name, now.weight, next.weight);
  for (size_t i = 0; i < slots.size(); ++i) r.add(slot_names[i], now.slots[i], next.slots[i]);
  if (recipe.optim.ema == 0) return;
  const Value mean = r.parameter("ema." + name, now.weight.type(), engine::copied(r.device, start));
  r.add("ema." + name, mean, mean * recipe.optim.ema + next.weight * (1.0 - recipe.optim.ema));
}

}  // namespace

struct TrainStep::Built {
  engine::Program program;
  std::vector<std::string> names, replaced;
  engine::Buffers state;
};

TrainStep::Built TrainStep::build(const engine::Model& model, const Recipe& recipe,
                                  const StepShape& shape) {
  Graph g;
  const Objective& objective = objective_of(recipe.objective.kind);
  const BatchInputs batch(g, shape);
  const double router_loss =
      recipe.objective.router_aux_loss_coef.value_or(model.files.shape().router_loss);
  const Value lr = g.parameter("lr", {DType::kF32, {}}), limit = g.parameter("limit", lr.type());
  const auto number_count =
      static_cast<int64_t>(optimizer_of(recipe.optim.kind).numbers(recipe.optim, 1).size());
  const Values numbers = scalars(g.parameter("numbers", {DType::kF32, {number_count}}));
  nn::Params params{.graph = g, .tuning = model.tuning};
  Value keys;
  if (model.tuning.lora && model.tuning.lora->dropout > 0)
    keys = g.parameter("dropout_keys", {DType::kU64, {shape.micro_batches, 2}});
  const Decoder decoder = model.build(params);
  Values trained;
  for (const nn::Weight& w : params.trained) trained.push_back(w.value);

  auto part = [&](const BatchInputs& in, Value key) {
    params.dropout_key = key;
    nn::Balance balance;
    const Objective::Sums s = objective.sums(
        recipe.objective,
        targets_of(decoder, in, remat_of(recipe), router_loss > 0 ? &balance : nullptr));
    const Value loss = with_balance(s, balance, router_loss);
    Values v{loss, s.count};
    v.insert(v.end(), s.metrics.begin(), s.metrics.end());
    const Values gradients = grad(loss, trained);
    v.insert(v.end(), gradients.begin(), gradients.end());
    return v;
  };
  Accumulated sums = accumulate(g, part, batch, keys, trained, objective.metrics.size());

  const Value total = maximum(sums.count, constant_like(lr, 1.0));
  Values squares;
  for (Value& d : sums.gradients) {
    d = d / everywhere(total, d);
    squares.push_back(reshape(sum_of_squares(d), {1}));
  }
  const Value each = concat(squares, 0);
  const Value norm = sqrt(sum(each, {0})), loss = sums.loss / total;
  const Value finite = compare(norm - norm, Compare::kEq, zeros_like(norm));
  const Value keep = logical_and(finite, compare(loss, Compare::kLe, limit));
  Replaced replaced{
      g, model.device, keep, {loss, norm, sums.count, convert(keep, DType::kF32), sqrt(each)}};
  for (const Value& m : sums.metrics) replaced.outs.push_back(m / total);
  const Value factor = clip_factor(norm, recipe.optim.clip);
  std::vector<std::string> names;
  for (size_t i = 0; i < trained.size(); ++i) {
    const std::string& name = names.emplace_back(params.trained[i].name);
    const Value d = sums.gradients[i];
    add_update(replaced, recipe, name, model.trained.at(name),
               {.weight = trained[i],
                .gradient = d * everywhere(factor, d),
                .slots = {},
                .lr = lr * rate_factor(recipe.adapter, name),
                .decay = decay_of(recipe.optim, d.type()),
                .numbers = numbers});
  }
  engine::Program program(model.device, g, replaced.outs, replaced.donated);
  return {std::move(program), names, replaced.names, std::move(replaced.state)};
}

TrainStep::TrainStep(engine::Model& model, const Recipe& recipe, const StepShape& shape)
    : TrainStep(model, recipe, shape, build(model, recipe, shape)) {}

TrainStep::TrainStep(engine::Model& model, const Recipe& recipe, const StepShape& shape,
                     Built built)
    : model_(model),
      optim_(recipe.optim),
      shape_(shape),
      seed_(static_cast<uint64_t>(recipe.seed)),
      metrics_(objective_of(recipe.objective.kind).metrics.size()),
      program_(std::move(built.program)),
      names_(std::move(built.names)),
      replaced_(std::move(built.replaced)),
      state_(std::move(built.state)) {}

engine::Buffers TrainStep::inputs(const StepBatch& batch, double lr, int64_t number,
                                  double limit) const {
  const pjrt::Client& client = model_.device.client();
  engine::Buffers in = upload(model_.device, shape_, batch);
  auto put = [&](const char* name, const Dims& dims, const std::vector<double>& values) {
    const std::vector<float> f(values.begin(), values.end());
    in[name] = client.to_device<float>(dims, std::span(f));
  };
  const std::vector<double> numbers = optimizer_of(optim_.kind).numbers(optim_, number);
  put("lr", {}, {lr});
  put("limit", {}, {limit});
  put("numbers", {static_cast<int64_t>(numbers.size())}, numbers);
  std::vector<uint64_t> keys;  // every micro-batch drops others; so does every step
  for (int64_t i = 0; i < shape_.micro_batches; ++i)
    keys.insert(keys.end(), {Random(seed_ + static_cast<uint64_t>(i)).bits(),
                             static_cast<uint64_t>(number) << 32});
  in["dropout_keys"] =
      client.to_device<uint64_t>({shape_.micro_batches, 2}, std::span<const uint64_t>(keys));
  return in;
}

StepResult TrainStep::run(const StepBatch& batch, double lr, int64_t number, double limit) {
  const engine::Buffers in = inputs(batch, lr, number, limit);
  std::vector<pjrt::Buffer> outs = program_.run([&](const std::string& name) -> pjrt::Arg {
    if (auto it = in.find(name); it != in.end()) return it->second;
    if (auto it = model_.trained.find(name); it != model_.trained.end())
      return std::move(it->second);
    if (auto it = state_.find(name); it != state_.end()) return std::move(it->second);
    return model_.weights.at(name);
  });
  const size_t first = kNumberOutputs + metrics_;
  for (size_t i = 0; i < replaced_.size(); ++i) {
    engine::Buffers& home = model_.trained.contains(replaced_[i]) ? model_.trained : state_;
    home[replaced_[i]] = std::move(outs[first + i]);
  }
  auto scalar = [&](size_t i) { return static_cast<double>(pjrt::to_host<float>(outs[i])[0]); };
  StepResult r{.loss = scalar(0),
               .grad_norm = scalar(1),
               .count = scalar(2),
               .metrics = {},
               .gradient_norms = {},
               .updated = scalar(3) != 0};
  for (float n : pjrt::to_host<float>(outs[4])) r.gradient_norms.push_back(static_cast<double>(n));
  for (size_t i = 0; i < metrics_; ++i) r.metrics.push_back(scalar(kNumberOutputs + i));
  return r;
}

}  // namespace hone::train
