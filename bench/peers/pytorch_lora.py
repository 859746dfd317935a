#!/usr/bin/env python3
"""The peer for training on CPU: one LoRA step of the SmolLM2-135M shape by PyTorch + PEFT, in the protocol of bench/README.md.

Random weights, float32, rank 16 on all seven projections, AdamW; the first (1 - share) of every row has label -100.
PyTorch's default attention (fused on CPU) and PEFT's defaults: what a user gets.
"""
import argparse
import json
import sys
import time

import peft
import torch
import transformers


def build(rank):
    config = transformers.LlamaConfig(vocab_size=49152, hidden_size=576, intermediate_size=1536, num_hidden_layers=30,
                                      num_attention_heads=9, num_key_value_heads=3, tie_word_embeddings=True, rms_norm_eps=1e-5)
    adapter = peft.LoraConfig(r=rank, lora_alpha=2 * rank, target_modules=[
        "q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"])
    return peft.get_peft_model(transformers.LlamaForCausalLM(config).float(), adapter).train()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, default in (("batch", 4), ("seq", 512), ("rank", 16), ("threads", 2)):
        parser.add_argument("--" + name, type=int, default=default)
    parser.add_argument("--share", type=float, default=1.0)
    args = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(args.threads)
    model = build(args.rank)
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-3)
    tokens = torch.randint(0, 49152, (args.batch, args.seq))
    labels = tokens.clone()
    labels[:, : int(args.seq * (1 - args.share))] = -100
    print(json.dumps({"ready": True, "name": f"PyTorch {torch.__version__} + PEFT {peft.__version__}"}), flush=True)
    for i, _ in enumerate(sys.stdin):
        start = time.perf_counter()
        loss = model(input_ids=tokens, labels=labels).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        print(json.dumps({"step": i, "seconds": time.perf_counter() - start, "loss": loss.item()}), flush=True)


if __name__ == "__main__":
    main()
