#!/usr/bin/env python3
"""Make the golden files of optimisers, schedules and training methods under tests/golden (developers only).

  python3 tools/golden_optim.py all            every part below
  python3 tools/golden_optim.py optimizers     optimizers: ten updates by each optimiser
  python3 tools/golden_optim.py schedules      schedules: the rate of every step of a run
  python3 tools/golden_optim.py methods        method_curves: ten steps on llama_tiny of rsLoRA, DoRA, LoRA+, full, DPO
  python3 tools/golden_optim.py check          do the committed files match their manifests? (standard library only)

Versions: tools/requirements-golden.txt. Everything is float32 on one CPU thread. tests/golden/README.md says what is in the files.

The references: torch.optim's AdamW, SGD and Muon, transformers' Adafactor, bitsandbytes' AdamW8bit and Lion. Four words on them:
  - PyTorch's SGD has no decoupled decay: the weight is multiplied by 1 - lr * decay before its step.
  - torch.optim.Muon rounds to bfloat16 before its Newton-Schulz steps. `muon` keeps it in float32, `muon_bf16` is as it comes.
    Weights that are no matrices go to torch's AdamW.
  - bitsandbytes' own 8-bit rounding on CPUs is not the nearest entry of the map as on GPUs: it moves small second moments up to entry 7.
    Here the CPU update is bitsandbytes', and the rounding takes the nearest entry of bitsandbytes' maps.
  - The loss of DPO is written out after Rafailov et al., arXiv:2305.18290, equation 7, with the label smoothing of TRL's "sigmoid" loss.
"""
import argparse
import json
import pathlib
import sys

import golden

SHAPES = {"wide": (6, 10), "tall": (12, 5), "vector": (7,), "large": (65, 70)}   # large: 17 blocks of 256 and 198 elements
UPDATES, RATE, SHIFT = 10, 1e-2, 13
DECAYS = [0.0, 0.1]
OPTIMIZERS = {                                  # kind, betas, shapes
    "adamw": ("adamw", (0.9, 0.999), ["wide", "vector"]),
    "adamw8bit": ("adamw8bit", (0.9, 0.999), ["wide", "vector", "large"]),
    "adafactor": ("adafactor", (0.9, 0.999), ["wide", "tall", "vector"]),
    "lion": ("lion", (0.9, 0.99), ["wide", "vector"]),
    "muon": ("muon", (0.95, 0.999), ["wide", "tall", "vector"]),
    "muon_bf16": ("muon", (0.95, 0.999), ["wide", "tall"]),
    "sgd": ("sgd", (0.9, 0.999), ["wide", "vector"]),
    "sgd_plain": ("sgd", (0.0, 0.0), ["wide", "vector"]),
}
RUN, PEAK = 50, 2e-4
SCHEDULES = [                                   # kind, warm-up, floor, cooldown; shares of the run, or steps from 1 on
    ("constant", 0, 0, 0), ("constant", 7, 0, 0),
    ("linear", 0, 0, 0), ("linear", 7, 0, 0), ("linear", 0.1, 0.25, 0),
    ("cosine", 0, 0, 0), ("cosine", 0.03, 0, 0), ("cosine", 5, 0.1, 0), ("cosine", 50, 0, 0),
    ("wsd", 0, 0, 0.2), ("wsd", 5, 0, 0.2), ("wsd", 0.1, 0.1, 0.5), ("wsd", 3, 0, 0),
    ("one-cycle", 0.3, 0, 0), ("one-cycle", 5, 0, 0), ("one-cycle", 0.5, 0, 0),
]
START = "random_decay"
CURVES = {                                      # recipe, start (a curve of lora_curve), weight decay, clip
    "rslora": (["adapter.variant=rslora"], START, 0.1, 6.0),
    "dora": (["adapter.kind=dora"], START, 0.1, 6.0),
    "loraplus": (["adapter.variant=loraplus", "adapter.loraplus_ratio=4"], START, 0.1, 6.0),
    "full": (["adapter.kind=none"], None, 0.1, 6.0),
    "dpo": (["objective.kind=dpo", "objective.beta=0.1"], START, 0.0, 1.0),
    "dpo_smoothed": (["objective.kind=dpo", "objective.beta=0.1", "objective.label_smoothing=0.1"], START, 0.0, 1.0),
}
PEAK_LR = 1e-3
MANIFEST = "optim_manifest.json"
FILES = ["optimizers.json", "optimizers.safetensors", "schedules.json", "method_curves.json", "method_curves.safetensors"]


def manifest():
    """One for all parts; apart from those of golden.py, which its own check compares with golden.py."""
    return dict(made_by="tools/golden_optim.py", script_sha256=golden.sha256(pathlib.Path(__file__)), versions=golden.pinned(),
                files={name: golden.sha256(golden.GOLDEN / name) for name in FILES})


def check():
    kept, now = json.loads((golden.GOLDEN / MANIFEST).read_text()), manifest()
    wrong = [f"{MANIFEST}: made by another tools/golden_optim.py"] if kept["script_sha256"] != now["script_sha256"] else []
    wrong += [f"tests/golden/{name}: changed" for name in FILES if kept["files"].get(name) != now["files"][name]]
    print("\n".join(wrong + [f"{len(FILES)} files, {len(wrong)} wrong"]))
    return 1 if wrong else 0


# ---- optimisers

def starts():
    """A weight and a gradient of each shape; the gradients span four decades, and two blocks of the large one are zero."""
    torch = golden.torch_once()
    generator = torch.Generator().manual_seed(50)
    tensors = {}
    for name, shape in SHAPES.items():
        gradient = torch.randn(shape, generator=generator) * 10 ** (-3 * torch.rand(shape, generator=generator))
        if name == "large":
            gradient.view(-1)[512:1100] = 0
        tensors[f"weight/{name}"], tensors[f"gradient/{name}"] = torch.randn(shape, generator=generator), gradient
    return tensors


def nearest_codes():
    """bitsandbytes' CPU update with the nearest entry of its maps."""
    torch = golden.torch_once()
    from bitsandbytes.backends.cpu import ops

    def quantise(values, code, absmax, out, blocksize):
        n, blocks = values.numel(), absmax.numel()
        padded = torch.zeros(blocks * blocksize)
        padded[:n] = values.reshape(-1)
        padded = padded.view(blocks, blocksize)
        absmax.copy_(padded.abs().amax(1))
        shares = padded / absmax.clamp(min=1e-38)[:, None]
        codes = torch.bucketize(shares.reshape(-1)[:n], (code[:-1] + code[1:]) / 2)
        out.copy_(codes.to(torch.uint8).view(out.shape))
    ops._quant_blockwise_fp32_direct = quantise


class InFloat32:
    """torch.optim.Muon without its rounding to bfloat16."""
    def __enter__(self):
        torch = golden.torch_once()
        self.kept = torch.Tensor.bfloat16
        torch.Tensor.bfloat16 = lambda t: t.clone()

    def __exit__(self, *_):
        golden.torch_once().Tensor.bfloat16 = self.kept


def make_optimizer(name, parameter, betas, decay):
    torch = golden.torch_once()
    import bitsandbytes
    from transformers.optimization import Adafactor
    if name.startswith("muon") and parameter.ndim == 2:
        return torch.optim.Muon([parameter], lr=RATE, weight_decay=decay, momentum=betas[0], adjust_lr_fn="match_rms_adamw")
    if name == "adamw" or name.startswith("muon"):
        return torch.optim.AdamW([parameter], lr=RATE, betas=betas, weight_decay=decay, foreach=False)
    if name == "adamw8bit":
        return bitsandbytes.optim.AdamW8bit([parameter], lr=RATE, betas=betas, weight_decay=decay)
    if name == "lion":
        return bitsandbytes.optim.Lion([parameter], lr=RATE, betas=betas, weight_decay=decay)
    if name == "adafactor":
        return Adafactor([parameter], lr=RATE, weight_decay=decay, scale_parameter=False, relative_step=False)
    return torch.optim.SGD([parameter], lr=RATE, momentum=betas[0], foreach=False)


def ten_updates(name, start, gradient, betas, decay):
    """The weight after each update, and the optimiser's state at the end."""
    torch = golden.torch_once()
    parameter = torch.nn.Parameter(start.clone())
    optimizer = make_optimizer(name, parameter, betas, decay)
    after = []
    for i in range(UPDATES):
        lr = RATE * (1 - i / (2 * UPDATES))
        optimizer.param_groups[0]["lr"] = lr
        parameter.grad = gradient.reshape(-1).roll(-SHIFT * i).view(gradient.shape).clone()
        if name.startswith("sgd"):
            parameter.data.mul_(1 - lr * decay)
        optimizer.step()
        after.append(parameter.detach().clone())
    return after, optimizer.state[parameter]


def optimizers():
    torch = golden.torch_once()
    import bitsandbytes.functional
    from safetensors.torch import save_file
    nearest_codes()
    tensors = starts()
    tensors["map/signed"] = bitsandbytes.functional.create_dynamic_map(signed=True)
    tensors["map/unsigned"] = bitsandbytes.functional.create_dynamic_map(signed=False)
    cases = []
    for name, (kind, betas, shapes) in OPTIMIZERS.items():
        for decay in DECAYS:
            case = f"{name}{'_decay' if decay else ''}"
            cases.append(dict(name=case, kind=kind, betas=betas, eps=1e-8, weight_decay=decay, shapes=shapes))
            for shape in shapes:
                inputs = name, tensors[f"weight/{shape}"], tensors[f"gradient/{shape}"], betas, decay
                if name == "muon":
                    with InFloat32():
                        after, state = ten_updates(*inputs)
                else:
                    after, state = ten_updates(*inputs)
                steps = [0, UPDATES - 1] if shape == "large" else range(UPDATES)
                for i in steps:
                    tensors[f"{case}/{shape}/{i + 1}"] = after[i]
                if shape == "large":
                    for mine, theirs in dict(m="state1", v="state2", m_largest="absmax1", v_largest="absmax2").items():
                        tensors[f"{case}/{shape}/{mine}"] = state[theirs].contiguous()
    golden.write_json(golden.GOLDEN / "optimizers.json", dict(
        updates=UPDATES, rate=f"{RATE} * (1 - i / {2 * UPDATES}) for i of 0 to {UPDATES - 1}",
        rates=[RATE * (1 - i / (2 * UPDATES)) for i in range(UPDATES)],
        gradient="element j of update i is element (j + shift * i) mod size of gradient/SHAPE", shift=SHIFT, cases=cases))
    save_file(tensors, golden.GOLDEN / "optimizers.safetensors")


# ---- schedules

def steps_of(value):
    """As transformers' TrainingArguments: below 1 a share of the steps, rounded up."""
    import math
    return math.ceil(value * RUN) if value < 1 else int(value)


def rates(kind, warmup, floor, cooldown):
    torch = golden.torch_once()
    import transformers.optimization as hf
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=PEAK)
    warm, cool = steps_of(warmup), steps_of(cooldown)
    if kind == "constant":
        scheduler = hf.get_constant_schedule_with_warmup(optimizer, warm)
    elif kind == "linear":
        scheduler = hf.get_linear_schedule_with_warmup(optimizer, warm, RUN)
    elif kind == "cosine":
        scheduler = hf.get_cosine_with_min_lr_schedule_with_warmup(optimizer, warm, RUN, min_lr_rate=floor)
    elif kind == "wsd":
        scheduler = hf.get_wsd_schedule(optimizer, warm, cool, num_training_steps=RUN, min_lr_ratio=floor)
    else:
        scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, PEAK, total_steps=RUN, pct_start=warm / RUN, cycle_momentum=False)
    result = []
    for i in range(RUN):
        lr = scheduler.get_last_lr()[0]
        if kind == "linear" and i >= warm:      # transformers' has no floor: the same line, ending there
            lr = PEAK * floor + (1 - floor) * lr
        if kind == "wsd" and i < warm:          # transformers' begins at the floor, all others at 0
            lr = PEAK * i / warm
        result.append(lr)
        optimizer.step()
        if i + 1 < RUN:
            scheduler.step()
    return result


def schedules():
    cases = [dict(kind=k, warmup=w, floor=f, cooldown=c, rates=rates(k, w, f, c)) for k, w, f, c in SCHEDULES]
    golden.write_json(golden.GOLDEN / "schedules.json", dict(steps=RUN, peak=PEAK, cases=cases))


# ---- ten steps by method

def load_curve():
    from safetensors.torch import load_file
    return load_file(golden.GOLDEN / "lora_curve.safetensors")


def make_model(name, start):
    """The model to train: llama_tiny itself, or under PEFT with the A and B of lora_curve's start."""
    from peft import LoraConfig, get_peft_model
    if start is None:
        return golden.load_tiny().train()
    options = dict(rslora=dict(use_rslora=True), dora=dict(use_dora=True)).get(name, {})
    model = get_peft_model(golden.load_tiny(), LoraConfig(r=4, lora_alpha=8, lora_dropout=0.0, task_type="CAUSAL_LM",
                                                          target_modules=golden.PROJECTIONS, **options))
    curve = load_curve()
    with golden.torch_once().no_grad():
        for key, p in model.named_parameters():
            if "lora_A" in key or "lora_B" in key:
                p.copy_(curve[f"{start}/initial/{key.replace('.default', '')}"])
    return model.train()


def make_optimizer_of(name, model, decay):
    torch = golden.torch_once()
    if name == "loraplus":
        from peft.optimizers import create_loraplus_optimizer
        return create_loraplus_optimizer(model, torch.optim.AdamW, lr=PEAK_LR, loraplus_lr_ratio=4, loraplus_weight_decay=decay)
    trained = [p for p in model.parameters() if p.requires_grad]
    groups = [dict(params=[p for p in trained if p.ndim > 1], weight_decay=decay),
              dict(params=[p for p in trained if p.ndim == 1], weight_decay=0.0)]
    return torch.optim.AdamW(groups, lr=PEAK_LR, betas=(0.9, 0.999), eps=1e-8, foreach=False)


def answers(model, tokens, mask):
    """log p of each row's targets, summed; [batch]."""
    return -golden.token_losses(model, tokens, mask).sum(1)


def dpo_loss(now, reference, smoothing, beta=0.1):
    """Rows 2i are chosen, 2i + 1 rejected. Returns the loss and what TRL logs."""
    torch = golden.torch_once()
    rewards = beta * (now - reference)
    chosen, rejected = rewards[0::2], rewards[1::2]
    margin = chosen - rejected
    sigmoid = torch.nn.functional.logsigmoid
    loss = (-sigmoid(margin) * (1 - smoothing) - sigmoid(-margin) * smoothing).mean()
    return loss, [float(v.detach().mean()) for v in (chosen, rejected, margin, (margin > 0).float())]


def method_curve(name, start, decay, clip, batches, masks, reference):
    torch = golden.torch_once()
    from transformers import get_cosine_schedule_with_warmup
    model = make_model(name, start)
    optimizer = make_optimizer_of(name, model, decay)
    schedule = get_cosine_schedule_with_warmup(optimizer, golden.WARMUP, golden.STEPS)
    parameters = [p for p in model.parameters() if p.requires_grad]
    tensors = golden.adapter_tensors if start else lambda m: {k: p.detach().clone() for k, p in m.named_parameters()}
    steps = []
    for i in range(golden.STEPS):
        metrics = []
        if name.startswith("dpo"):
            loss, metrics = dpo_loss(answers(model, batches[i], masks[i]), reference[i], 0.1 if name == "dpo_smoothed" else 0.0)
        else:
            loss = golden.token_losses(model, batches[i], masks[i]).sum() / masks[i].sum()
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(parameters, clip)
        steps.append(dict(step=i + 1, lr=schedule.get_last_lr()[0], loss=loss.item(), grad_norm=norm.item(), metrics=metrics))
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
    return steps, {f"final/{k}": v for k, v in tensors(model).items()}


def methods():
    torch = golden.torch_once()
    from safetensors.torch import save_file
    curve = load_curve()
    batches, masks = curve["tokens"], curve["mask"]
    base = golden.load_tiny()
    with torch.no_grad():
        reference = torch.stack([answers(base, t, m) for t, m in zip(batches, masks)])
    tensors, curves = {"reference": reference}, {}
    for name, (recipe, start, decay, clip) in CURVES.items():
        steps, keep = method_curve(name, start, decay, clip, batches, masks, reference)
        curves[name] = dict(recipe=recipe, weight_decay=decay, clip_grad_norm=clip, start=start, steps=steps)
        tensors.update({f"{name}/{k}": v.contiguous() for k, v in keep.items()})
    golden.write_json(golden.GOLDEN / "method_curves.json", dict(
        model="llama_tiny", batches="tokens and mask of lora_curve.safetensors",
        adapter=dict(r=4, lora_alpha=8, lora_dropout=0.0, target_modules=golden.PROJECTIONS),
        optimizer=dict(kind="adamw", betas=[0.9, 0.999], eps=1e-8, schedule="cosine", warmup=golden.WARMUP, peak_lr=PEAK_LR,
                       decay="of matrices alone"),
        reference="log p of each row's targets by llama_tiny alone; rows 2i are chosen, 2i + 1 rejected",
        metrics=["rewards/chosen", "rewards/rejected", "rewards/margins", "rewards/accuracies"], curves=curves))
    save_file(tensors, golden.GOLDEN / "method_curves.safetensors")


def main():
    parts = dict(optimizers=optimizers, schedules=schedules, methods=methods)
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", choices=["all", *parts, "check"])
    args = parser.parse_args()
    if args.part == "check":
        return check()
    golden.require_versions()
    for name in parts if args.part == "all" else [args.part]:
        parts[name]()
    golden.write_json(golden.GOLDEN / MANIFEST, manifest())
    return 0


if __name__ == "__main__":
    sys.exit(main())
