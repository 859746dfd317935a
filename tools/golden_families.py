#!/usr/bin/env python3
"""Make a tiny random model of each family but llama under tests/golden, and what transformers computes with it (developers only).

  python3 tools/golden_families.py [FAMILY...]

Same versions, files and names as tools/golden.py: an HF folder NAME_tiny and NAME_tiny.safetensors with `tokens`, each layer's output,
`model.norm` and `logits`; `model.embed_tokens` is what the first layer is given. Windows are 4 keys, the sequences 12 tokens long.
"""
import json
import pathlib
import shutil
import sys

import golden

COMMON = dict(vocab_size=128, hidden_size=32, intermediate_size=48, num_hidden_layers=3, num_attention_heads=4, num_key_value_heads=2,
              rms_norm_eps=1e-5, max_position_embeddings=128, bos_token_id=1, eos_token_id=2)
KINDS = ["sliding_attention", "full_attention", "sliding_attention"]
FAMILIES = {
    "mistral": dict(head_dim=16, sliding_window=4),
    "qwen2": dict(tie_word_embeddings=True, rope_parameters=dict(rope_type="default", rope_theta=1e6)),
    "qwen3": dict(head_dim=16, rope_parameters=dict(rope_type="default", rope_theta=1e6)),
    "gemma2": dict(head_dim=16, sliding_window=4, layer_types=KINDS, query_pre_attn_scalar=24, attn_logit_softcapping=2.0,
                   final_logit_softcapping=1.5),
    "gemma3_text": dict(head_dim=16, sliding_window=4, layer_types=KINDS, query_pre_attn_scalar=24,
                        rope_parameters=dict(sliding_attention=dict(rope_type="default", rope_theta=1e4),
                                             full_attention=dict(rope_type="linear", rope_theta=1e6, factor=8.0))),
}


def make(family, seed):
    """A random model whose norms are not one and whose logits are of the order of one."""
    torch = golden.torch_once()
    from transformers import AutoConfig, AutoModelForCausalLM
    config = AutoConfig.for_model(family, **COMMON, **FAMILIES[family])
    model = AutoModelForCausalLM.from_config(config, attn_implementation="eager").float().eval()
    generator = torch.Generator().manual_seed(seed)
    lowest = -0.5 if family.startswith("gemma") else 0.5          # Gemma multiplies by 1 + weight
    with torch.no_grad():
        for key, p in model.named_parameters():
            if key.endswith("norm.weight"):
                p.copy_(lowest + torch.rand(p.shape, generator=generator))
            elif p.dim() == 1:
                p.copy_(torch.randn(p.shape, generator=generator) * 0.3)
            else:
                scale = 0.7 if "embed" in key else p.shape[1] ** -0.5
                p.copy_(torch.randn(p.shape, generator=generator) * scale)
    return model


def activations(model, tokens):
    torch = golden.torch_once()
    out, hooks = {}, []
    layers = model.model.layers
    first = lambda v: (v[0] if isinstance(v, tuple) else v).clone()
    hooks.append(layers[0].register_forward_pre_hook(lambda _m, args, kwargs: out.update(
        {"model.embed_tokens": first(args or kwargs["hidden_states"])}), with_kwargs=True))
    for name, module in [(f"model.layers.{i}", m) for i, m in enumerate(layers)] + [("model.norm", model.model.norm)]:
        hooks.append(module.register_forward_hook(lambda _m, _a, result, name=name: out.update({name: first(result)})))
    with torch.no_grad():
        out["logits"] = model(input_ids=tokens.long(), use_cache=False).logits
    for h in hooks:
        h.remove()
    return {"tokens": tokens, **{k: v.float().contiguous() for k, v in out.items()}}


def main():
    golden.require_versions()
    torch = golden.torch_once()
    from safetensors.torch import save_file
    from transformers import AutoModelForCausalLM
    for seed, family in enumerate(FAMILIES, 50):
        if sys.argv[1:] and family not in sys.argv[1:]:
            continue
        name = f"{family}_tiny"
        folder = golden.GOLDEN / name
        shutil.rmtree(folder, ignore_errors=True)
        make(family, seed).save_pretrained(folder)
        (folder / "generation_config.json").unlink(missing_ok=True)
        model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()
        save_file(activations(model, golden.tokens_for(10, 2, 12)), golden.GOLDEN / f"{name}.safetensors")
        golden.manifest(name, [f for f in folder.iterdir() if f.name != "MANIFEST.json"] + [golden.GOLDEN / f"{name}.safetensors"],
                        script=pathlib.Path(__file__))


if __name__ == "__main__":
    main()
