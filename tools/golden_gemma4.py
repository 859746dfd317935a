#!/usr/bin/env python3
"""Make the golden files of Gemma 4, and of checkpoints that hold a text model beside others (developers only).

  python3 tools/golden_gemma4.py [PART...]      models, curves, weights, gguf; all of them by default

models    HF folders NAME_tiny and NAME_tiny.safetensors, as tools/golden_families.py makes them
curves    gemma4_curves: ten LoRA steps by PEFT on the batches of lora_curve, every linear layer, A and B random
weights   gemma4_weights/SIZE.json: the config of each size that was published, written from its facts below, and the names and shapes of the
          text model's weights as transformers builds them on its meta device
gguf      gemma4_gguf.json: metadata and tensor names that llama.cpp's converter gives gemma4_text_tiny, gemma4_e_tiny, gemma4_moe_tiny
"""
import json
import pathlib
import re
import shutil
import sys

import golden
import golden_families

SCRIPT = pathlib.Path(__file__)
S, F = "sliding_attention", "full_attention"
TEXT = dict(golden_families.COMMON, num_hidden_layers=6, head_dim=16, global_head_dim=32, sliding_window=4, final_logit_softcapping=1.5,
            tie_word_embeddings=True, pad_token_id=0, vocab_size_per_layer_input=128)
DENSE = dict(TEXT, layer_types=[S, S, F] * 2, attention_k_eq_v=True, num_global_key_value_heads=1, hidden_size_per_layer_input=0)
E = dict(TEXT, layer_types=[S, F, S, S, S, F], hidden_size_per_layer_input=8, num_kv_shared_layers=2, use_double_wide_mlp=True)
MIXTURE = dict(DENSE, num_hidden_layers=3, layer_types=[S, S, F], enable_moe_block=True, num_experts=8, top_k_experts=3,
               moe_intermediate_size=16)
SIGLIP = dict(hidden_size=16, intermediate_size=16, num_hidden_layers=1, num_attention_heads=2, image_size=28, patch_size=14)
TOWER = dict(hidden_size=16, intermediate_size=16, num_hidden_layers=1, num_attention_heads=2, num_key_value_heads=2, head_dim=8,
             patch_size=2, position_embedding_size=8)
MODELS = {  # name: (model_type, config)
    "gemma4_text": ("gemma4_text", DENSE),
    "gemma4_e": ("gemma4_text", E),
    "gemma4": ("gemma4", dict(text_config=dict(DENSE, num_hidden_layers=3, layer_types=[S, S, F]), vision_config=TOWER)),
    "gemma3": ("gemma3", dict(text_config=dict(golden_families.COMMON, **golden_families.FAMILIES["gemma3_text"]), vision_config=SIGLIP,
                              mm_tokens_per_image=4)),
    "gemma4_moe": ("gemma4_text", MIXTURE),
}

# Of each size: what differs. Patterns are periods of layers, the last of which is full.
SIZES = {
    "31b": dict(hidden_size=5376, intermediate_size=21504, num_hidden_layers=60, num_attention_heads=32, num_key_value_heads=16,
                num_global_key_value_heads=4, attention_k_eq_v=True, sliding_window=1024, max_position_embeddings=262144),
    "12b": dict(hidden_size=3840, intermediate_size=15360, num_hidden_layers=48, num_attention_heads=16, num_key_value_heads=8,
                num_global_key_value_heads=1, attention_k_eq_v=True, sliding_window=1024, max_position_embeddings=262144),
    "e4b": dict(hidden_size=2560, intermediate_size=10240, num_hidden_layers=42, num_attention_heads=8, num_key_value_heads=2,
                num_kv_shared_layers=18, hidden_size_per_layer_input=256, sliding_window=512, max_position_embeddings=131072),
    "e2b": dict(hidden_size=1536, intermediate_size=6144, num_hidden_layers=35, num_attention_heads=8, num_key_value_heads=1,
                num_kv_shared_layers=20, hidden_size_per_layer_input=256, use_double_wide_mlp=True, sliding_window=512,
                max_position_embeddings=131072),
    "26b_a4b": dict(hidden_size=2816, intermediate_size=2112, num_hidden_layers=30, num_attention_heads=16, num_key_value_heads=8,
                    num_global_key_value_heads=2, attention_k_eq_v=True, enable_moe_block=True, num_experts=128, top_k_experts=8,
                    moe_intermediate_size=704, sliding_window=1024, max_position_embeddings=262144),
}
PERIOD = {"e2b": 5}  # else 6
PARAMETERS = {"31b": 30697345280, "12b": 11907350272, "e4b": 7463013376, "e2b": 4628569344, "26b_a4b": 25233141760}


# ---- models

def text_model(model):
    return getattr(model.model, "language_model", model.model)


def randomise(model, seed, lowest):
    """As golden_families.make(): norms that are not one, logits of the order of one; and layer scalars that are not one."""
    torch = golden.torch_once()
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for key, p in model.named_parameters():
            if key.endswith("norm.weight"):
                p.copy_(lowest + torch.rand(p.shape, generator=generator))
            elif p.dim() == 1:
                p.copy_(torch.randn(p.shape, generator=generator) * 0.3)
            else:
                p.copy_(torch.randn(p.shape, generator=generator) * (0.7 if "embed_tokens" in key else p.shape[1] ** -0.5))
        for key, b in model.named_buffers():
            if key.endswith("layer_scalar"):
                b.copy_(0.5 + torch.rand(b.shape, generator=generator))
    return model


def auto_class(model_type):
    from transformers import AutoModelForCausalLM, AutoModelForImageTextToText
    return AutoModelForCausalLM if model_type.endswith("_text") else AutoModelForImageTextToText


def activations(model, tokens):
    torch = golden.torch_once()
    out, hooks, text = {}, [], text_model(model)
    first = lambda v: (v[0] if isinstance(v, tuple) else v).clone()
    hooks.append(text.layers[0].register_forward_pre_hook(lambda _m, args, kwargs: out.update(
        {"model.embed_tokens": first(args or kwargs["hidden_states"])}), with_kwargs=True))
    for name, module in [(f"model.layers.{i}", m) for i, m in enumerate(text.layers)] + [("model.norm", text.norm)]:
        hooks.append(module.register_forward_hook(lambda _m, _a, result, name=name: out.update({name: first(result)})))
    with torch.no_grad():
        out["logits"] = model(input_ids=tokens.long(), use_cache=False).logits
        cached = model(input_ids=tokens.long(), use_cache=True).logits
    for h in hooks:
        h.remove()
    if not torch.allclose(out["logits"], cached, atol=1e-5):
        sys.exit("golden: the reference's forward with a cache differs from that without")
    return {"tokens": tokens, **{k: v.float().contiguous() for k, v in out.items()}}


def models():
    torch = golden.torch_once()
    from safetensors.torch import save_file
    from transformers import AutoConfig
    for seed, (name, (model_type, options)) in enumerate(MODELS.items(), 70):
        folder = golden.GOLDEN / f"{name}_tiny"
        shutil.rmtree(folder, ignore_errors=True)
        config = AutoConfig.for_model(model_type, **options)
        model = auto_class(model_type).from_config(config, attn_implementation="eager").float().eval()
        randomise(model, seed, -0.5 if name == "gemma3" else 0.5).save_pretrained(folder)
        for extra in ("generation_config.json", "processor_config.json"):
            (folder / extra).unlink(missing_ok=True)
        model = auto_class(model_type).from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()
        save_file(activations(model, golden.tokens_for(10, 2, 12)), golden.GOLDEN / f"{name}_tiny.safetensors")
        golden.manifest(f"{name}_tiny", [f for f in folder.iterdir() if f.name != "MANIFEST.json"] +
                        [golden.GOLDEN / f"{name}_tiny.safetensors"], script=SCRIPT)


# ---- curves

def curve(name, seed, batches, masks):
    torch = golden.torch_once()
    from peft import LoraConfig, get_peft_model
    from transformers import get_cosine_schedule_with_warmup
    base = auto_class("gemma4_text").from_pretrained(golden.GOLDEN / name, dtype=torch.float32, attn_implementation="eager")
    model = get_peft_model(base, LoraConfig(r=4, lora_alpha=8, bias="none", task_type="CAUSAL_LM", target_modules="all-linear")).train()
    generator = torch.Generator().manual_seed(seed)
    named = [(k, p) for k, p in model.named_parameters() if p.requires_grad]
    with torch.no_grad():
        for key, p in named:
            p.copy_(torch.randn(p.shape, generator=generator) * 0.3)
    tensors = {f"{name}/initial/{k}": v for k, v in golden.adapter_tensors(model).items()}
    parameters = [p for _, p in named]
    optimizer = torch.optim.AdamW(parameters, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.1, foreach=False)
    schedule = get_cosine_schedule_with_warmup(optimizer, golden.WARMUP, golden.STEPS)
    steps = []
    for i in range(golden.STEPS):
        loss = golden.token_losses(model, batches[i], masks[i]).sum() / masks[i].sum()
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(parameters, 6.0)
        steps.append(dict(step=i + 1, lr=schedule.get_last_lr()[0], loss=loss.item(), grad_norm=norm.item(), metrics=[]))
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
    tensors.update({f"{name}/final/{k}": v for k, v in golden.adapter_tensors(model).items()})
    return dict(model=name, recipe=[], weight_decay=0.1, clip_grad_norm=6.0, start=name, steps=steps), tensors


def curves():
    golden.torch_once()
    from safetensors.torch import load_file, save_file
    data = load_file(golden.GOLDEN / "lora_curve.safetensors")
    result, tensors = {}, {}
    for seed, name in enumerate(["gemma4_text_tiny", "gemma4_e_tiny", "gemma4_moe_tiny"], 80):
        result[name], more = curve(name, seed, data["tokens"], data["mask"])
        tensors.update({k: v.contiguous() for k, v in more.items()})
    golden.write_json(golden.GOLDEN / "gemma4_curves.json", dict(
        batches="tokens and mask of lora_curve.safetensors", adapter=dict(r=4, lora_alpha=8, target_modules="all-linear"),
        optimizer=dict(kind="adamw", betas=[0.9, 0.999], eps=1e-8, schedule="cosine", warmup=golden.WARMUP, peak_lr=1e-3), curves=result))
    save_file(tensors, golden.GOLDEN / "gemma4_curves.safetensors")
    golden.manifest("gemma4_curves", [golden.GOLDEN / "gemma4_curves.json", golden.GOLDEN / "gemma4_curves.safetensors"], script=SCRIPT)


# ---- weights

def published_config(size):
    """config.json as the published checkpoints have it, of the text model alone."""
    options, period = SIZES[size], PERIOD.get(size, 6)
    layers = options["num_hidden_layers"]
    kind = "gemma4_unified" if size == "12b" else "gemma4"
    text = dict(
        attention_bias=False, attention_dropout=0.0, attention_k_eq_v=False, bos_token_id=2, dtype="bfloat16", enable_moe_block=False,
        eos_token_id=1, final_logit_softcapping=30.0, global_head_dim=512, head_dim=256, hidden_activation="gelu_pytorch_tanh",
        hidden_size_per_layer_input=0, initializer_range=0.02, layer_types=[F if (i + 1) % period == 0 else S for i in range(layers)],
        model_type=kind + "_text", moe_intermediate_size=None, num_experts=None, num_global_key_value_heads=None, num_kv_shared_layers=0,
        pad_token_id=0, rms_norm_eps=1e-6, rope_parameters={
            F: dict(partial_rotary_factor=0.25, rope_theta=1e6, rope_type="proportional"), S: dict(rope_theta=1e4, rope_type="default")},
        tie_word_embeddings=True, top_k_experts=None, use_bidirectional_attention=None if size.startswith("e") else "vision",
        use_cache=True, use_double_wide_mlp=False, vocab_size=262144, vocab_size_per_layer_input=262144)
    return dict(
        architectures=["Gemma4UnifiedForConditionalGeneration" if size == "12b" else "Gemma4ForConditionalGeneration"], audio_token_id=258881,
        boa_token_id=256000, boi_token_id=255999, dtype="bfloat16", eoa_token_id=258883, eoa_token_index=258883, eoi_token_id=258882,
        eos_token_id=[1, 106], image_token_id=258880, initializer_range=0.02, model_type=kind, text_config=dict(text, **options),
        tie_word_embeddings=True, transformers_version="5.5.0", video_token_id=258884, audio_config=None, vision_config=None)


def ranges(numbers):
    out = []
    for n in sorted(numbers):
        if out and out[-1][1] == n - 1:
            out[-1][1] = n
        else:
            out.append([n, n])
    return ",".join(f"{a}-{b}" if a < b else str(a) for a, b in out)


def weights():
    torch = golden.torch_once()
    from transformers import AutoConfig
    folder = golden.GOLDEN / "gemma4_weights"
    folder.mkdir(exist_ok=True)
    for size in SIZES:
        config = published_config(size)
        with torch.device("meta"):
            model = auto_class("gemma4").from_config(AutoConfig.for_model(**config))
        shapes = {k: list(v.shape) for k, v in model.state_dict().items() if "language_model." in k}
        parameters = sum(p.numel() for p in text_model(model).parameters())
        if parameters != PARAMETERS[size]:
            sys.exit(f"golden: {size} has {parameters} parameters, not {PARAMETERS[size]}")
        grouped = {}
        for name, shape in shapes.items():
            layer = re.search(r"\.layers\.(\d+)\.", name)
            key = (name.replace(layer[0], ".layers.{}.") if layer else name, tuple(shape))
            grouped.setdefault(key, []).append(int(layer[1]) if layer else None)
        golden.write_json(folder / f"{size}.json", dict(
            config=config, parameters=parameters, layer_scalars=sum(name.endswith("layer_scalar") for name in shapes), tensors=len(shapes),
            weights=[dict(name=name, dims=list(dims), **({} if layers == [None] else dict(layers=ranges(layers))))
                     for (name, dims), layers in grouped.items()]))
    golden.manifest("gemma4_weights", sorted(folder.glob("*b.json")), script=SCRIPT)


# ---- gguf

def gguf_keys(c):
    """As conversion/gemma.py of llama.cpp writes them: (key, GGUF type, value or list)."""
    full = next(iter(c["per_layer_config"].values()))
    slides = [t == S for t in c["layer_types"]]
    layers, shared = c["num_hidden_layers"], c["num_kv_shared_layers"]
    heads, ffw = c["num_key_value_heads"], c["intermediate_size"]
    if "num_key_value_heads" in full:
        heads = [heads if s else full["num_key_value_heads"] for s in slides]
    if c["use_double_wide_mlp"]:
        ffw = [ffw if i < layers - shared else 2 * ffw for i in range(layers)]
    ropes = c["rope_parameters"]
    experts = [("expert_count", "u32", c["num_experts"]), ("expert_used_count", "u32", c["top_k_experts"]),
               ("expert_feed_forward_length", "u32", c["moe_intermediate_size"])] if c["enable_moe_block"] else []
    return experts + [("context_length", "u32", c["max_position_embeddings"]), ("embedding_length", "u32", c["hidden_size"]), ("block_count", "u32", layers),
            ("feed_forward_length", "u32", ffw), ("attention.head_count", "u32", c["num_attention_heads"]), ("attention.head_count_kv", "u32", heads),
            ("rope.freq_base", "f32", ropes[F]["rope_theta"]), ("rope.freq_base_swa", "f32", ropes[S]["rope_theta"]),
            ("attention.layer_norm_rms_epsilon", "f32", c["rms_norm_eps"]), ("attention.sliding_window", "u32", c["sliding_window"]),
            ("attention.shared_kv_layers", "u32", shared), ("embedding_length_per_layer_input", "u32", c["hidden_size_per_layer_input"]),
            ("attention.sliding_window_pattern", "bool", slides), ("attention.key_length", "u32", full["head_dim"]),
            ("attention.value_length", "u32", full["head_dim"]), ("attention.key_length_swa", "u32", c["head_dim"]),
            ("attention.value_length_swa", "u32", c["head_dim"]), ("final_logit_softcapping", "f32", c["final_logit_softcapping"]),
            ("rope.dimension_count", "u32", full["head_dim"]), ("rope.dimension_count_swa", "u32", c["head_dim"])]


def gguf_tensor(names, name):
    """What the converter calls a tensor; the routers' two scales it names itself."""
    layer = name.split(".")[2]
    if name.endswith("router.scale"):
        return f"blk.{layer}.ffn_gate_inp.scale"
    if name.endswith("router.per_expert_scale"):
        return f"blk.{layer}.ffn_down_exps.scale"
    return names.get_name(name.removesuffix(".weight")) + ".weight"


def gguf():
    import gguf as llama
    from safetensors import safe_open
    result = {}
    for name in ("gemma4_text_tiny", "gemma4_e_tiny", "gemma4_moe_tiny"):
        config = json.loads((golden.GOLDEN / name / "config.json").read_text())
        names = llama.get_tensor_name_map(llama.MODEL_ARCH.GEMMA4, config["num_hidden_layers"])
        with safe_open(golden.GOLDEN / name / "model.safetensors", "np") as f:
            tensors = {k: gguf_tensor(names, k) for k in f.keys()}
        full, rope = next(iter(config["per_layer_config"].values()))["head_dim"], config["rope_parameters"][F]
        turning = int(full * rope["partial_rotary_factor"] / 2)
        result[name] = dict(keys=gguf_keys(config), tensors=tensors, rope_freqs=[1.0] * turning + [1e30] * (full // 2 - turning))
    golden.write_json(golden.GOLDEN / "gemma4_gguf.json", result)
    golden.manifest("gemma4_gguf", [golden.GOLDEN / "gemma4_gguf.json"], script=SCRIPT)


def main():
    golden.require_versions()
    parts = dict(models=models, curves=curves, weights=weights, gguf=gguf)
    for name in sys.argv[1:] or parts:
        parts[name]()


if __name__ == "__main__":
    main()
