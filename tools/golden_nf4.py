#!/usr/bin/env python3
"""Make the golden files of quantised bases with bitsandbytes on a CPU (developers only).

  python3 tools/golden_nf4.py stores     stores.safetensors: matrices, quantised and back
  python3 tools/golden_nf4.py curves     qlora_curve.json: ten steps on llama_tiny in NF4, with PEFT

The matrices are not kept: weights_of() makes them, and src/nn/store_test.cc makes the same.
The curves use the real Linear4bit, computing in float32, on the batches and from the adapters of lora_curve.
NF4: quantize_4bit(blocksize=64, compress_statistics=True). int8: int8_vectorwise_quant, and its values again.
Versions: tools/requirements-golden.txt.
"""
import sys

import bitsandbytes.functional as bnb
import numpy as np
import torch
from safetensors.torch import load_file, save_file

import golden

OUT = golden.GOLDEN / "stores.safetensors"
# One block; fewer than one; a last block that is short; more than 256 blocks, the last group short; an odd number of values.
SHAPES = [(1, 64), (5, 13), (7, 96), (33, 64), (130, 128), (137, 121)]
ZERO_ROW = 2          # where there is one


def weights_of(rows, columns):
    """Values with full mantissas whose scale changes every 64; one row is zero."""
    i = np.arange(rows * columns, dtype=np.uint64)
    mixed = (i * 2654435761) % 2**32
    scale = ((i // 64) * 40503 + 7) % 11
    values = ((mixed >> 8).astype(np.int64) - 2**23).astype(np.float32) * np.exp2(-24.0 - scale).astype(np.float32)
    values = values.reshape(rows, columns)
    if rows > ZERO_ROW:
        values[ZERO_ROW] = 0
    return torch.from_numpy(values)


def stores():
    kept = {}
    for rows, columns in SHAPES:
        name, w = f"{rows}x{columns}", weights_of(rows, columns)
        codes, state = bnb.quantize_4bit(w, blocksize=64, quant_type="nf4", compress_statistics=True)
        kept[f"{name}/nf4.codes"] = codes.reshape(-1)
        kept[f"{name}/nf4.absmax"] = state.absmax.reshape(-1)
        kept[f"{name}/nf4.absmax2"] = state.state2.absmax.reshape(-1)
        kept[f"{name}/nf4.offset"] = state.offset.reshape(1)
        kept[f"{name}/nf4.values"] = bnb.dequantize_4bit(codes, state)
        # The zero row is left out: bitsandbytes divides by its absmax.
        kept_rows = [r for r in range(rows) if w[r].abs().max() > 0]
        codes, absmax, _ = bnb.int8_vectorwise_quant(w[kept_rows])
        kept[f"{name}/int8.codes"] = codes
        kept[f"{name}/int8.absmax"] = absmax
        kept[f"{name}/int8.values"] = bnb.int8_vectorwise_dequant(codes, absmax)
    save_file({k: v.contiguous() for k, v in kept.items()}, OUT)
    print(f"{OUT.name}: {len(SHAPES)} matrices, {OUT.stat().st_size} bytes")


# Start of B, whether DoRA, weight decay, clip; as in golden.CURVES.
CURVES = {"zero": ("zero", False, 0.0, 1.0), "random_decay": ("random", False, 0.5, 6.0),
          "dora": ("zero", True, 0.0, 1.0)}


def load_nf4():
    from transformers import AutoModelForCausalLM, BitsAndBytesConfig
    nf4 = BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_use_double_quant=True,
                             bnb_4bit_compute_dtype=torch.float32)
    return AutoModelForCausalLM.from_pretrained(golden.GOLDEN / "llama_tiny", dtype=torch.float32, attn_implementation="eager",
                                                quantization_config=nf4)


def with_lora(b_start, dora):
    """The adapter of golden.with_lora(30, b_start), on the quantised model."""
    from peft import LoraConfig, get_peft_model
    model = get_peft_model(load_nf4(), LoraConfig(r=4, lora_alpha=8, lora_dropout=0.0, bias="none", task_type="CAUSAL_LM",
                                                  use_dora=dora, target_modules=golden.PROJECTIONS))
    generator = torch.Generator().manual_seed(30)
    with torch.no_grad():
        for key, p in model.named_parameters():
            if "lora_A" in key or ("lora_B" in key and b_start == "random"):
                p.copy_(torch.randn(p.shape, generator=generator) * 0.3)
    return model.train()


def curve(b_start, dora, decay, clip, batches, masks):
    from transformers import get_cosine_schedule_with_warmup
    model = with_lora(b_start, dora)
    parameters = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(parameters, lr=golden.PEAK_LR, betas=(0.9, 0.999), eps=1e-8, weight_decay=decay, foreach=False)
    schedule = get_cosine_schedule_with_warmup(optimizer, golden.WARMUP, golden.STEPS)
    steps = []
    for i in range(golden.STEPS):
        loss = golden.token_losses(model, batches[i], masks[i]).sum() / masks[i].sum()
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(parameters, clip)
        steps.append(dict(step=i + 1, lr=schedule.get_last_lr()[0], loss=loss.item(), grad_norm=norm.item()))
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
    return steps


def curves():
    kept = load_file(golden.GOLDEN / "lora_curve.safetensors")
    result = {}
    for name, (b_start, dora, decay, clip) in CURVES.items():
        result[name] = dict(weight_decay=decay, clip_grad_norm=clip, lora_b=b_start, dora=dora,
                            steps=curve(b_start, dora, decay, clip, kept["tokens"], kept["mask"]))
    golden.write_json(golden.GOLDEN / "qlora_curve.json", dict(base="nf4, double quantisation, block 64", curves=result))


def main():
    parts = dict(stores=stores, curves=curves)
    if len(sys.argv) != 2 or sys.argv[1] not in parts:
        sys.exit(__doc__)
    torch.set_num_threads(1)
    parts[sys.argv[1]]()


if __name__ == "__main__":
    main()
