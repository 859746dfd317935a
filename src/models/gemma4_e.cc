// Gemma 4 E2B and E4B: each layer has an embedding of its own, of the token and of the text so far,
// and the last layers look at the keys and values of the last layer of their kind that has some.
#include <cmath>
#include <numbers>

#include "models/gemma4.h"

namespace hone::gemma4 {
namespace {

// What goes from layer to layer.
struct State {
  Value x;
  Value inputs;                            // of all layers, [b, s, layers * input]
  nn::KeysValues sliding = {}, full = {};  // of the last layer of each kind that has its own

  State(Value hidden, Value layer_inputs) : x(hidden), inputs(layer_inputs) {}
  explicit State(const Values& v) : x(v[0]), inputs(v[1]), sliding{v[2], v[3]}, full{v[4], v[5]} {}
  Values values() const { return {x, inputs, sliding.k, sliding.v, full.k, full.v}; }
};

// The embeddings of all layers: the mean, up to a scale, of what a table says of the token and
// what is projected from its embedding.
struct LayerInputs {
  Config c;
  nn::Matrix table;
  nn::Linear projection;
  nn::RmsNorm norm;

  LayerInputs(nn::Scope model, const Config& config)
      : c(config),
        table((model / "embed_tokens_per_layer")
                  .table({"vocab", c.input_vocab}, {"", c.layers * c.input})),
        projection(model / "per_layer_model_projection", {"embed", c.hidden},
                   {"", c.layers * c.input}),
        norm(model / "per_layer_projection_norm", c.input, c.eps) {}

  Value operator()(Value tokens, Value embedded) const {
    const Value looked_up = table.rows(tokens) * std::sqrt(static_cast<double>(c.input));
    const Value projected = projection(embedded) / std::sqrt(static_cast<double>(c.hidden));
    const Value by_layer = split_heads(projected, c.layers);
    return (reshape(norm(by_layer), projected.dims()) + looked_up) / std::numbers::sqrt2;
  }
};

// x + what the gate lets through of the layer's own input.
struct InputGate {
  int64_t at, size;
  nn::Linear gate, projection;
  nn::RmsNorm norm;

  InputGate(nn::Scope p, const Config& c, size_t layer)
      : at(static_cast<int64_t>(layer) * c.input),
        size(c.input),
        gate(p / "per_layer_input_gate", {"embed", c.hidden}, {"", size}),
        projection(p / "per_layer_projection", {"", size}, {"embed", c.hidden}),
        norm(p / "post_per_layer_input_norm", c.hidden, c.eps) {}

  Value operator()(Value x, Value inputs) const {
    return x + norm(projection(gelu_tanh(gate(x)) * slice(inputs, 2, at, at + size)));
  }
};

// What follows attention.
struct Rest {
  nn::GatedMlp mlp;
  InputGate gate;
  LayerScalar scalar;

  Rest(nn::Scope p, const Config& c, int64_t ffw, size_t layer)
      : mlp(p / "mlp", c.hidden, ffw, gelu_tanh), gate(p, c, layer), scalar(p) {}

  Value operator()(Value h, const Norms& norms, Value inputs) const {
    return scalar(gate(h + norms.post_ffw(mlp(norms.pre_ffw(h))), inputs));
  }
};

struct OwnerBlock {
  size_t layer;
  nn::KeysValues State::* seen;
  Norms norms;
  Queries queries;
  KeysAndValues keys_values;
  Rest rest;

  OwnerBlock(nn::Scope p, const Config& c, size_t index)
      : layer(index),
        seen(c.slides[index] ? &State::sliding : &State::full),
        norms(p, c),
        queries(p / "self_attn", c, index),
        keys_values(p / "self_attn", c, index),
        rest(p, c, c.ffw, index) {}

  Values operator()(const Values& values, const nn::Context& ctx) const {
    State state(values);
    const Value a = norms.pre_attn(state.x);
    const Value q = queries(a, ctx);
    const auto [k, v] = keys_values(a, ctx);
    state.*seen = remember(k, v, ctx, layer);
    const Value found = queries.o(attend(q, state.*seen, queries.scores(), ctx));
    state.x = rest(state.x + norms.post_attn(found), norms, state.inputs);
    return state.values();
  }
};

struct BorrowerBlock {
  nn::KeysValues State::* seen;
  Norms norms;
  Queries queries;
  Rest rest;

  BorrowerBlock(nn::Scope p, const Config& c, size_t index)
      : seen(c.slides[index] ? &State::sliding : &State::full),
        norms(p, c),
        queries(p / "self_attn", c, index),
        rest(p, c, c.borrower_ffw, index) {}

  Values operator()(const Values& values, const nn::Context& ctx) const {
    State state(values);
    const Value q = queries(norms.pre_attn(state.x), ctx);
    const Value found = queries.o(attend(q, state.*seen, queries.scores(), ctx));
    state.x = rest(state.x + norms.post_attn(found), norms, state.inputs);
    return state.values();
  }
};

}  // namespace

Decoder build_e(nn::Scope model, const Config& c) {
  Decoder d = without_layers(model, c);
  d.embed = [plain = d.embed, inputs = LayerInputs(model, c)](Value tokens) {
    const Value x = plain(tokens)[0];
    return State(x, inputs(tokens, x)).values();
  };
  for (int64_t i = 0; i < c.layers; ++i) {
    const nn::Scope p = model / "layers" / i;
    const auto layer = static_cast<size_t>(i);
    if (i < c.layers - c.borrowers)
      d.layers.emplace_back(OwnerBlock(p, c, layer));
    else
      d.layers.emplace_back(BorrowerBlock(p, c, layer));
  }
  return d;
}

}  // namespace hone::gemma4
