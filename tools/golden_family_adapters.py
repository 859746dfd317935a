#!/usr/bin/env python3
"""Make a LoRA adapter by PEFT for the tiny model of each family, and what the model computes and learns with it (developers only).

  python3 tools/golden_family_adapters.py [MODEL...]

tests/golden/family_adapters/MODEL: a PEFT folder on every linear layer (of the text model), A and B random; golden.safetensors with `tokens`, `logits`, and
`final/...` after ten steps on the batches of lora_curve; curve.json with the settings and each step. Versions: tools/requirements-golden.txt.
"""
import json
import pathlib
import shutil
import sys

import golden

SCRIPT = pathlib.Path(__file__)
MODELS = ["llama31_tiny", "mistral_tiny", "qwen2_tiny", "qwen3_tiny", "gemma2_tiny", "gemma3_text_tiny", "gemma4_text_tiny", "gemma4_e_tiny",
          "gemma4_moe_tiny", "gemma3_tiny", "gemma4_tiny"]         # Mixtral and Qwen 3 MoE: tools/golden_moe.py
SEEING = ["gemma3_tiny", "gemma4_tiny"]
PEAK_LR, DECAY, CLIP = 1e-3, 0.1, 6.0


def with_adapter(name, seed):
    torch = golden.torch_once()
    from peft import LoraConfig, get_peft_model
    from transformers import AutoModelForCausalLM, AutoModelForImageTextToText
    auto, targets = (AutoModelForImageTextToText, r".*\.language_model\..*_proj") if name in SEEING else (AutoModelForCausalLM, "all-linear")
    base = auto.from_pretrained(golden.GOLDEN / name, dtype=torch.float32, attn_implementation="eager")
    model = get_peft_model(base, LoraConfig(r=2, lora_alpha=4, lora_dropout=0.0, bias="none", task_type="CAUSAL_LM", target_modules=targets)).eval()
    model.peft_config["default"].base_model_name_or_path = name
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for p in (p for p in model.parameters() if p.requires_grad):
            p.copy_(torch.randn(p.shape, generator=generator) * 0.15)
    return model


def save(model, folder):
    shutil.rmtree(folder, ignore_errors=True)
    model.save_pretrained(folder)
    (folder / "README.md").unlink(missing_ok=True)
    config = json.loads((folder / "adapter_config.json").read_text())
    if isinstance(config["target_modules"], list):
        config["target_modules"].sort()      # a set in PEFT
    golden.write_json(folder / "adapter_config.json", config)


def ten_steps(model, batches, masks):
    """In eval mode, which without dropout computes the same and asks for no kinds of tokens."""
    torch = golden.torch_once()
    from transformers import get_cosine_schedule_with_warmup
    parameters = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(parameters, lr=PEAK_LR, betas=(0.9, 0.999), eps=1e-8, weight_decay=DECAY, foreach=False)
    schedule = get_cosine_schedule_with_warmup(optimizer, golden.WARMUP, golden.STEPS)
    steps = []
    for tokens, mask in zip(batches, masks):
        loss = golden.token_losses(model, tokens, mask).sum() / mask.sum()
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(parameters, CLIP)
        steps.append(dict(lr=schedule.get_last_lr()[0], loss=loss.item(), grad_norm=norm.item()))
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
    return steps


def make(name, seed):
    torch = golden.torch_once()
    from safetensors.torch import load_file, save_file
    model = with_adapter(name, seed)
    folder = golden.GOLDEN / "family_adapters" / name
    save(model, folder)
    tokens = golden.tokens_for(10, 12)
    with torch.no_grad():
        model.disable_adapter_layers()
        plain = model(input_ids=tokens.long()[None], use_cache=False).logits[0]
        model.enable_adapter_layers()
        logits = model(input_ids=tokens.long()[None], use_cache=False).logits[0]
    if (logits - plain).abs().max() < 0.05 * logits.abs().max():
        sys.exit(f"golden: the adapter of {name} hardly moves its logits, so it would show nothing")
    batches = load_file(golden.GOLDEN / "lora_curve.safetensors")
    steps = ten_steps(model, batches["tokens"], batches["mask"])
    final = {f"final/{k}": v for k, v in golden.adapter_tensors(model).items()}
    save_file({"tokens": tokens, "logits": logits.contiguous(), **final}, folder / "golden.safetensors")
    golden.write_json(folder / "curve.json", dict(model=name, clip_grad_norm=CLIP, weight_decay=DECAY, steps=steps))
    golden.manifest(f"family_adapters/{name}", [f for f in folder.iterdir() if f.name != "MANIFEST.json"], script=SCRIPT)


def main():
    golden.require_versions()
    for seed, name in enumerate(MODELS, 110):
        if not sys.argv[1:] or name in sys.argv[1:]:
            make(name, seed)


if __name__ == "__main__":
    main()
