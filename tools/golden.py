#!/usr/bin/env python3
"""Make the golden files under tests/golden with the reference implementations (developers only; nothing at run time needs this).

  python3 tools/golden.py all                  every part below
  python3 tools/golden.py llama                llama_tiny, llama31_tiny, llama_linear_tiny: HF folders and their activations
  python3 tools/golden.py adapter              adapter_tiny: a PEFT adapter folder for llama_tiny and its logits
  python3 tools/golden.py lora                 lora_curve: ten LoRA steps on llama_tiny, three starts
  python3 tools/golden.py smollm2 --model X.gguf   smollm2_next.json: next tokens of the real model
  python3 tools/golden.py check                do the committed files match their manifests? (standard library only)

Versions: tools/requirements-golden.txt (torch 2.9.1, transformers 5.24.0, peft 0.21.2, llama-cpp-python 0.3.36); others are refused.
Everything is float32 on one CPU thread with eager attention and fixed seeds: the same machine writes the same bytes again.

Activations are named after the module that returned them (`model.layers.0.mlp` is the MLP's output before the residual sum,
`model.layers.0` the block's output). Besides: `model.rotary_emb.inv_freq|cos|sin`, `model.layers.0.self_attn.probs` (after softmax).
"""
import argparse
import hashlib
import importlib.metadata
import json
import os
import pathlib
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
GOLDEN = ROOT / "tests" / "golden"
REQUIREMENTS = ROOT / "tools" / "requirements-golden.txt"
PROMPTS = ROOT / "tools" / "golden_prompts.json"
PROJECTIONS = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]

SHAPE = dict(vocab_size=128, hidden_size=32, intermediate_size=48, num_hidden_layers=3, num_attention_heads=4,
             num_key_value_heads=2, rms_norm_eps=1e-5, max_position_embeddings=128, bos_token_id=1, eos_token_id=2)
# Head size 16 and 64 original positions put one rotary frequency in each band of the llama3 rule: kept, blended, divided.
LLAMA3_ROPE = dict(rope_type="llama3", rope_theta=500000.0, factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
                   original_max_position_embeddings=64)
MODELS = {
    "llama_tiny": dict(seed=1, head_dim=8, tie_word_embeddings=False,
                       rope_parameters=dict(rope_type="default", rope_theta=10000.0)),
    "llama31_tiny": dict(seed=2, head_dim=16, tie_word_embeddings=True, rope_parameters=LLAMA3_ROPE),
    "llama_linear_tiny": dict(seed=3, head_dim=8, tie_word_embeddings=False, num_key_value_heads=4,
                              rope_parameters=dict(rope_type="linear", rope_theta=10000.0, factor=2.0)),
}
CURVES = {                                      # start of B, weight decay, clip
    "zero": ("zero", 0.0, 1.0),                 # PEFT's own start
    "zero_decay": ("zero", 0.01, 1.0),
    "random_decay": ("random", 0.5, 6.0),       # A has a gradient from the first step, the decay shows in the losses,
}                                               # and some steps are clipped while others are not
STEPS, WARMUP, BATCH, LENGTH, PEAK_LR = 10, 2, 4, 16, 1e-2


# ---- files and manifests

def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def write_json(path, value):
    path.write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n")


def pinned():
    lines = (line.split("#")[0].strip() for line in REQUIREMENTS.read_text().splitlines())
    return dict(line.split("==") for line in lines if line)


def require_versions():
    for name, want in pinned().items():
        have = importlib.metadata.version(name)
        if have.split("+")[0] != want:
            sys.exit(f"golden: {name} is {have}, the golden files are made with {want}: install {REQUIREMENTS.name}")


def manifest(part, files, script=pathlib.Path(__file__)):
    """Writes tests/golden/PART.manifest.json, or MANIFEST.json inside PART when that is a folder."""
    for f in files:
        f.chmod(0o644)
    folder = GOLDEN / part
    path = folder / "MANIFEST.json" if folder.is_dir() else GOLDEN / f"{part}.manifest.json"
    write_json(path, dict(made_by=f"tools/{script.name}", script_sha256=sha256(script), versions=pinned(),
                          files={str(f.relative_to(GOLDEN)): sha256(f) for f in sorted(files)}))
    print(f"{part}: {len(files)} files, {sum(f.stat().st_size for f in files)} bytes")


def check():
    paths = sorted(GOLDEN.glob("**/MANIFEST.json")) + sorted(GOLDEN.glob("*.manifest.json"))
    bad, count = [], 0
    for path in paths:
        m = json.loads(path.read_text())
        if m["script_sha256"] != sha256(ROOT / m["made_by"]):
            bad.append(f"{path.relative_to(ROOT)}: made by another {m['made_by']}; run it again")
        for name, want in m["files"].items():
            count += 1
            if not (GOLDEN / name).is_file() or sha256(GOLDEN / name) != want:
                bad.append(f"tests/golden/{name}: missing or changed")
    print("\n".join(bad + [f"{len(paths)} manifests, {count} files, {len(bad)} wrong"]))
    return 1 if bad or count == 0 else 0


# ---- tiny models

def torch_once():
    os.environ["HF_HUB_OFFLINE"] = "1"
    import torch
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    return torch


def make_model(name):
    """A random Llama whose norms are not one and whose logits are of the order of one."""
    torch = torch_once()
    from transformers import LlamaConfig, LlamaForCausalLM
    options = dict(SHAPE, **MODELS[name])
    generator = torch.Generator().manual_seed(options.pop("seed"))
    model = LlamaForCausalLM(LlamaConfig(**options, attn_implementation="eager")).float().eval()
    with torch.no_grad():
        for key, p in model.named_parameters():
            if key.endswith("norm.weight"):
                p.copy_(0.5 + torch.rand(p.shape, generator=generator))
            else:
                scale = 0.7 if "embed" in key else p.shape[1] ** -0.5
                p.copy_(torch.randn(p.shape, generator=generator) * scale)
    return model


def load_tiny(name="llama_tiny"):
    torch = torch_once()
    from transformers import LlamaForCausalLM
    return LlamaForCausalLM.from_pretrained(GOLDEN / name, dtype=torch.float32, attn_implementation="eager").eval()


def tokens_for(seed, *shape):
    torch = torch_once()
    return torch.randint(3, SHAPE["vocab_size"], shape, generator=torch.Generator().manual_seed(seed), dtype=torch.int32)


def activations(model, tokens):
    """Every output named in the header, by forward hooks."""
    torch = torch_once()
    out, hooks = {}, []
    outputs = ["model.embed_tokens", "model.norm"] + [f"model.layers.{i}" for i in range(SHAPE["num_hidden_layers"])]
    inside = [k for k, _ in model.named_modules() if k.startswith("model.layers.0.") and not k.endswith("act_fn")]

    def keep(key):
        def hook(_module, _args, result):
            if key.endswith("self_attn"):
                out[key + ".probs"] = result[1].clone()
            out[key] = (result[0] if isinstance(result, tuple) else result).clone()
        return hook

    for key in outputs + inside:
        hooks.append(model.get_submodule(key).register_forward_hook(keep(key)))
    rotary = model.model.rotary_emb

    def keep_rotary(_module, _args, result):
        out["model.rotary_emb.cos"], out["model.rotary_emb.sin"] = (r[0].clone() for r in result)
    hooks.append(rotary.register_forward_hook(keep_rotary))
    with torch.no_grad():
        out["logits"] = model(input_ids=tokens.long(), use_cache=False).logits
    out["model.rotary_emb.inv_freq"] = rotary.inv_freq.clone()
    for h in hooks:
        h.remove()
    return {"tokens": tokens, **{k: v.float().contiguous() for k, v in out.items()}}


def old_config(config):
    """The same configuration as transformers 4 wrote it: rope_theta and rope_scaling apart, torch_dtype."""
    c = {k: v for k, v in config.items() if k not in ("rope_parameters", "dtype")}
    rope = dict(config["rope_parameters"])
    c["rope_theta"] = rope.pop("rope_theta")
    c["rope_scaling"] = None if rope["rope_type"] == "default" else rope
    return dict(c, torch_dtype=config["dtype"], pretraining_tp=1, transformers_version="4.43.0")


def llama():
    torch = torch_once()
    from safetensors.torch import save_file
    for name in MODELS:
        folder = GOLDEN / name
        shutil.rmtree(folder, ignore_errors=True)
        model = make_model(name)
        if name == "llama_linear_tiny":        # in shards of bfloat16; the activations are float32 on the rounded weights
            model.bfloat16().save_pretrained(folder, max_shard_size="20KB")
        else:
            model.save_pretrained(folder)
        (folder / "generation_config.json").unlink(missing_ok=True)
        config = json.loads((folder / "config.json").read_text())
        write_json(folder / "config_v4.json", old_config(config))
        save_file(activations(load_tiny(name), tokens_for(10, 2, 12)), GOLDEN / f"{name}.safetensors")
        manifest(name, [f for f in folder.iterdir() if f.name != "MANIFEST.json"] + [GOLDEN / f"{name}.safetensors"])


# ---- adapters

def with_lora(seed, b_start, alpha=8):
    """llama_tiny under PEFT with rank 4 on all seven projections; A and B drawn here, so that no default of PEFT matters."""
    torch = torch_once()
    from peft import LoraConfig, get_peft_model
    model = get_peft_model(load_tiny(), LoraConfig(r=4, lora_alpha=alpha, lora_dropout=0.0, bias="none", task_type="CAUSAL_LM",
                                                   target_modules=PROJECTIONS))
    model.peft_config["default"].base_model_name_or_path = "llama_tiny"
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for key, p in model.named_parameters():
            if "lora_A" in key or ("lora_B" in key and b_start == "random"):
                p.copy_(torch.randn(p.shape, generator=generator) * 0.3)
    return model


def adapter_tensors(model):
    from peft import get_peft_model_state_dict
    return {k: v.detach().clone().contiguous() for k, v in get_peft_model_state_dict(model).items()}


def adapter():
    torch = torch_once()
    from safetensors.torch import save_file
    folder = GOLDEN / "adapter_tiny"
    shutil.rmtree(folder, ignore_errors=True)
    model = with_lora(20, "random").eval()
    model.save_pretrained(folder)
    (folder / "README.md").unlink(missing_ok=True)
    config = json.loads((folder / "adapter_config.json").read_text())
    write_json(folder / "adapter_config.json", dict(config, target_modules=sorted(config["target_modules"])))   # a set in PEFT
    tokens = tokens_for(10, 2, 12)
    with torch.no_grad():
        logits = model(input_ids=tokens.long(), use_cache=False).logits
    save_file({"tokens": tokens, "logits": logits.contiguous()}, GOLDEN / "adapter_tiny.safetensors")
    manifest("adapter_tiny", [f for f in folder.iterdir() if f.name != "MANIFEST.json"] + [GOLDEN / "adapter_tiny.safetensors"])


# ---- ten LoRA steps

def token_losses(model, tokens, mask):
    """-log p(token t | tokens before t) at the targets, zero elsewhere; [batch, length]."""
    torch = torch_once()
    logits = model(input_ids=tokens.long(), use_cache=False).logits
    loss = torch.nn.functional.cross_entropy(logits[:, :-1].transpose(1, 2), tokens[:, 1:].long(), reduction="none")
    return torch.nn.functional.pad(loss, (1, 0)) * mask


def curve(b_start, decay, clip, batches, masks):
    """Returns what happened at each step, and the tensors to keep."""
    torch = torch_once()
    from transformers import get_cosine_schedule_with_warmup
    model = with_lora(30, b_start).train()
    parameters = [p for p in model.parameters() if p.requires_grad]
    names = [k.replace(".default", "") for k, p in model.named_parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(parameters, lr=PEAK_LR, betas=(0.9, 0.999), eps=1e-8, weight_decay=decay, foreach=False)
    schedule = get_cosine_schedule_with_warmup(optimizer, WARMUP, STEPS)
    keep = {f"initial/{k}": v for k, v in adapter_tensors(model).items()}
    steps = []
    for i in range(STEPS):
        losses = token_losses(model, batches[i], masks[i])
        loss = losses.sum() / masks[i].sum()
        loss.backward()
        if i == 0:
            keep["token_losses"] = losses.detach().clone()
            keep.update({f"grad/{k}": p.grad.clone() for k, p in zip(names, parameters)})
        norm = torch.nn.utils.clip_grad_norm_(parameters, clip)
        steps.append(dict(step=i + 1, lr=schedule.get_last_lr()[0], loss=loss.item(), grad_norm=norm.item()))
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
    keep.update({f"final/{k}": v for k, v in adapter_tensors(model).items()})
    return steps, keep


def lora():
    torch = torch_once()
    from safetensors.torch import save_file
    batches = tokens_for(40, STEPS, BATCH, LENGTH) % 12 + 3      # few kinds of token: something to learn in ten steps
    masks = (torch.rand(batches.shape, generator=torch.Generator().manual_seed(41)) < 0.6).int()
    masks[:, :, 0] = 0                  # nothing predicts the first token
    masks[:, 3, 12:] = 0                # a row that ends early, as padding would
    tensors = {"tokens": batches, "mask": masks}
    base = load_tiny()
    with torch.no_grad():
        base_losses = [(token_losses(base, t, m).sum() / m.sum()).item() for t, m in zip(batches, masks)]
    result = dict(
        model="llama_tiny", adapter=dict(r=4, lora_alpha=8, lora_dropout=0.0, target_modules=PROJECTIONS),
        optimizer=dict(kind="adamw", betas=[0.9, 0.999], eps=1e-8,
                       schedule=dict(kind="cosine", warmup=WARMUP, steps=STEPS, peak_lr=PEAK_LR,
                                     rule="step i of 0..: i < warmup: i/warmup, else (1 + cos(pi (i-warmup)/(steps-warmup))) / 2")),
        loss="sum of -log p(token t | tokens before t) over mask[t] = 1, divided by the number of such t",
        grad_norm="over all adapter tensors, before clipping", targets=[int(m.sum()) for m in masks],
        base_losses=base_losses, curves={})
    for name, (b_start, decay, clip) in CURVES.items():
        steps, keep = curve(b_start, decay, clip, batches, masks)
        result["curves"][name] = dict(weight_decay=decay, clip_grad_norm=clip, lora_b=b_start, steps=steps)
        tensors.update({f"{name}/{k}": v.contiguous() for k, v in keep.items()})
    write_json(GOLDEN / "lora_curve.json", result)
    save_file(tensors, GOLDEN / "lora_curve.safetensors")
    manifest("lora_curve", [GOLDEN / "lora_curve.json", GOLDEN / "lora_curve.safetensors"])


# ---- the real SmolLM2

def smollm2_prompts(gguf):
    """The texts of golden_prompts.json; chats are rendered with the model's own template."""
    import jinja2
    template = jinja2.Environment(trim_blocks=True, lstrip_blocks=True).from_string(gguf["tokenizer.chat_template"])
    for p in json.loads(PROMPTS.read_text()):
        if isinstance(p, str):
            yield dict(text=p)
        else:
            yield dict(messages=p, text=template.render(messages=p, add_generation_prompt=True, bos_token="<|im_start|>"))


def top(logits, n=10):
    order = logits.argsort()[::-1][:n]
    return dict(ids=[int(i) for i in order], logits=[round(float(logits[i]), 5) for i in order])


def smollm2(path):
    """Keeps the prompts whose two best tokens differ by more than 0.5 in llama.cpp's logits."""
    torch = torch_once()
    import llama_cpp
    import numpy as np
    from transformers import AutoModelForCausalLM
    # Keys and values in float32: what is left between the two references is llama.cpp's 8-bit rounding of activations.
    peer = llama_cpp.Llama(str(path), n_ctx=1024, n_threads=2, logits_all=False, verbose=False, type_k=0, type_v=0)
    exact = AutoModelForCausalLM.from_pretrained(path.parent, gguf_file=path.name, dtype=torch.float32,
                                                 attn_implementation="eager").eval()
    kept = []
    for p in smollm2_prompts(peer.metadata):
        ids = peer.tokenize(p["text"].encode(), add_bos=False, special=True)
        peer.reset()
        peer.eval(ids)
        logits = np.ctypeslib.as_array(llama_cpp.llama_get_logits(peer.ctx), shape=(peer.n_vocab(),)).copy()
        best = top(logits)
        gap = best["logits"][0] - best["logits"][1]
        if gap <= 0.5:
            print(f"  left out, top two differ by {gap:.2f}: {p['text'][-50:]!r}")
            continue
        with torch.no_grad():
            full = exact(input_ids=torch.tensor([ids]), use_cache=False).logits[0, -1].numpy()
        kept.append(dict(p, tokens=ids, next=best["ids"][0], next_text=peer.detokenize([best["ids"][0]], special=True).decode(errors="replace"),
                         llama_cpp=best, transformers=top(full), max_difference=round(float(abs(full - logits).max()), 4)))
    agree = sum(p["next"] == p["transformers"]["ids"][0] for p in kept)
    print(f"smollm2_next: {len(kept)} prompts, transformers agrees on {agree}")
    if len(kept) < 24:
        sys.exit("golden: fewer than 24 prompts are left; add some to golden_prompts.json")
    write_json(GOLDEN / "smollm2_next.json", dict(model=path.name, model_sha256=sha256(path), add_bos=False, prompts=kept))
    manifest("smollm2_next", [GOLDEN / "smollm2_next.json"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", choices=["all", "llama", "adapter", "lora", "smollm2", "check"])
    parser.add_argument("--model", type=pathlib.Path,
                        default=ROOT / ".deps/models/smollm2-135m/SmolLM2-135M-Instruct.Q4_1.gguf")
    args = parser.parse_args()
    if args.part == "check":
        return check()
    require_versions()
    GOLDEN.mkdir(parents=True, exist_ok=True)
    parts = dict(llama=llama, adapter=adapter, lora=lora, smollm2=lambda: smollm2(args.model))
    for name in parts if args.part == "all" else [args.part]:
        parts[name]()
    return 0


if __name__ == "__main__":
    sys.exit(main())
