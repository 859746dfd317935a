// Gemma 4 26B-A4B: beside the feed-forward layer of the dense sizes, which every token goes
// through, a mixture of experts; both read what attention left.
#include <cmath>

#include "models/gemma4.h"
#include "nn/moe.h"

namespace hone::gemma4 {
namespace {

// Picks experts by a scaled unit vector; each expert's answer has a scale of its own.
struct Router {
  Config c;
  nn::Linear proj;
  Value scale, expert_scale;

  Router(nn::Scope p, const Config& config)
      : c(config),
        proj(p / "proj", {"embed", c.hidden}, {"expert", c.experts}),
        scale(p.weight({{"embed", c.hidden}}, "scale")),
        expert_scale(p.weight({{"expert", c.experts}}, "per_expert_scale")) {}

  nn::Routing operator()(Value x, const nn::Context& ctx) const {
    const Value scaled = unit(x, c.eps) * spread(scale, x, {x.rank() - 1});
    const Value logits = proj(scaled / std::sqrt(static_cast<double>(c.hidden)));
    nn::Routing r = nn::route(logits, c.chosen, /*normalised=*/true, ctx);
    r.weights = r.weights * take(convert(expert_scale, DType::kF32), r.experts);
    return r;
  }
};

template <class Source>
struct MixtureBlock {
  Norms norms;
  nn::RmsNorm post_dense, pre_experts, post_experts;
  Attention<Source> attn;
  nn::GatedMlp mlp;
  Router router;
  nn::Experts experts;
  LayerScalar scalar;

  MixtureBlock(nn::Scope p, const Config& c, size_t layer)
      : norms(p, c),
        post_dense(p / "post_feedforward_layernorm_1", c.hidden, c.eps),
        pre_experts(p / "pre_feedforward_layernorm_2", c.hidden, c.eps),
        post_experts(p / "post_feedforward_layernorm_2", c.hidden, c.eps),
        attn(p / "self_attn", c, layer),
        mlp(p / "mlp", c.hidden, c.ffw, gelu_tanh),
        router(p / "router", c),
        experts(p / "experts", c.hidden, c.expert_ffw, c.experts, gelu_tanh),
        scalar(p) {}

  Value operator()(Value x, const nn::Context& ctx) const {
    const Value h = x + norms.post_attn(attn(norms.pre_attn(x), ctx));
    const Value dense = post_dense(mlp(norms.pre_ffw(h)));
    const Value rows = reshape(h, {h.dim(0) * h.dim(1), h.dim(2)});
    const Value mixed = experts(pre_experts(rows), router(rows, ctx));
    return scalar(h + norms.post_ffw(dense + post_experts(reshape(mixed, h.dims()))));
  }
};

}  // namespace

Decoder build_mixture(nn::Scope model, const Config& c) {
  return with_layers<MixtureBlock>(model, c);
}

}  // namespace hone::gemma4
