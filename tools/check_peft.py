#!/usr/bin/env python3
"""Does the real PEFT load an adapter folder that hone wrote, and give the same logits? (developers only)

  python3 tools/check_peft.py ADAPTER                              base: tests/golden/llama_tiny; runs `hone logits` itself
  python3 tools/check_peft.py ADAPTER --base X.gguf                the real model, dequantised to float32 by transformers
  python3 tools/check_peft.py ADAPTER --base DIR --tokens 1,2,3 --logits FILE.safetensors
  python3 tools/check_peft.py --base X.gguf --save-base DIR        only write the GGUF as a Hugging Face folder (float32)
  python3 tools/check_peft.py --methods                            two steps of `hone train` on SmolLM2 by each method of METHODS,
                                                                   the adapter of each checked as above
  python3 tools/check_peft.py --families                           the same on the tiny model of each family in tests/golden/family_adapters
  python3 tools/check_peft.py --full                               the same with every weight trained: does transformers load the
                                                                   folder, with the same logits and the same tokens?

FILE is what `hone logits MODEL --tokens 1,2,3 --adapter ADAPTER --out FILE` writes: `logits`, f32 [tokens, vocab].
Passes (exit 0) when every tensor of the folder reached PEFT unchanged, the adapter moves the logits at all, and
max |ours - PEFT's| <= tolerance * max |PEFT's|. Versions: tools/requirements-golden.txt.
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

os.environ["HF_HUB_OFFLINE"] = "1"
ROOT = pathlib.Path(__file__).resolve().parent.parent
SMOLLM2 = ROOT / ".deps/models/smollm2-135m/SmolLM2-135M-Instruct.Q4_1.gguf"
METHODS = {
    "lora": [],
    "rslora": ["adapter.variant=rslora"],
    "dora": ["adapter.kind=dora", "adapter.targets=[q_proj, v_proj]"],
    "ranks": ["adapter.targets=[q_proj, k_proj, 'model\\.layers\\.[0-3]\\..*o_proj']",
              "adapter.ranks=[{match: k_proj, rank: 2, alpha: 8}, {match: '.*\\.layers\\.1[0-9]\\..*', rank: 3, alpha: 3}]"],
    "saved": ["adapter.targets=[v_proj]", "adapter.modules_to_save=[model.norm, embed_tokens]"],
    "nf4": ["base.store=nf4", "remat=block"],
}


def load_base(path):
    """A Hugging Face folder, or a GGUF file through transformers' own reader; float32."""
    import torch
    from transformers import AutoModelForCausalLM, AutoModelForImageTextToText
    options = dict(dtype=torch.float32, attn_implementation="eager")
    if path.is_dir() and "vision_config" in json.loads((path / "config.json").read_text()):
        return AutoModelForImageTextToText.from_pretrained(path, **options).eval()
    if path.suffix == ".gguf":
        return AutoModelForCausalLM.from_pretrained(path.parent, gguf_file=path.name, **options).eval()
    return AutoModelForCausalLM.from_pretrained(path, **options).eval()


def save_base(model, path, folder):
    from transformers import AutoTokenizer
    if path.suffix == ".gguf":        # transformers refuses to save a model that remembers it came from GGUF
        config = model.config
        config.__dict__.pop("quantization_config", None)
        clean = type(model)(config).to(model.dtype)
        clean.load_state_dict(model.state_dict())
        model = clean
    model.save_pretrained(folder)
    if path.suffix == ".gguf":
        AutoTokenizer.from_pretrained(path.parent, gguf_file=path.name).save_pretrained(folder)
    print(f"wrote {folder}")


def logits_of(model, tokens):
    import torch
    with torch.no_grad():
        return model(input_ids=torch.tensor([tokens]), use_cache=False).logits[0].numpy()


def load_adapter(model, folder):
    """The model under PEFT; stops when a tensor of the file did not arrive, or PEFT holds one that the file lacks."""
    import torch
    from peft import PeftModel, get_peft_model_state_dict
    from safetensors.torch import load_file
    model = PeftModel.from_pretrained(model, str(folder)).eval()
    ours, theirs = load_file(folder / "adapter_model.safetensors"), get_peft_model_state_dict(model)
    for name in sorted(set(ours) | set(theirs)):
        if name not in ours or name not in theirs:
            sys.exit(f"check_peft: {name} is only in {'PEFT' if name in theirs else 'the file'}")
        if not torch.equal(ours[name].float(), theirs[name].float()):
            sys.exit(f"check_peft: {name} changed on its way into PEFT")
    print(f"PEFT loaded all {len(ours)} tensors")
    return model


def run_hone(args, tokens):
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "logits.safetensors"
        adapter = ["--adapter", args.adapter] if args.adapter else []
        subprocess.run([args.hone, "logits", args.base, "--tokens", ",".join(map(str, tokens)), *adapter, "--out", out], check=True)
        return read_logits(out)


def train(args, folder, overrides):
    """Two steps of hone on two short chats; returns the run's folder."""
    chats = folder / "chats.jsonl"
    chats.write_text("".join(json.dumps({"messages": [{"role": "user", "content": f"Say {w}."}, {"role": "assistant", "content": w}]}) + "\n"
                             for w in ("pear", "plum")))
    subprocess.run([args.hone, "train", "smollm2_135m_lora_cpu", f"data.train={chats}", "data.eval=[]", f"save.dir={folder / 'run'}",
                    "length.steps=2", "batch.sequences=2", "batch.micro=2", "data.seq_len=64", "optim.lr=0.01", "optim.warmup=0",
                    "optim.schedule=constant", *overrides], check=True, cwd=ROOT)
    return folder / "run"


def check_methods(args, tokens):
    args.base, wrong = SMOLLM2, []
    for name, overrides in METHODS.items():
        print(f"--- {name}")
        with tempfile.TemporaryDirectory() as folder:
            args.adapter = train(args, pathlib.Path(folder), overrides) / "adapter"
            model = load_base(args.base)
            base = logits_of(model, tokens)
            ours = run_hone(args, tokens)
            if not compare(args, tokens, ours, base, logits_of(load_adapter(model, args.adapter), tokens)):
                wrong.append(name)
    print(f"{len(METHODS)} methods, {len(wrong)} wrong: {wrong}")
    return 1 if wrong else 0


def with_tokenizer(model, folder):
    """A copy of a tiny model with a tokenizer, which training asks for though these data are token ids."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    shutil.copytree(model, folder)
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())[:125]
    tokenizer = Tokenizer(models.BPE(vocab={t: i for i, t in enumerate(["<unk>", "<s>", "</s>", *alphabet])}, merges=[]))
    tokenizer.pre_tokenizer, tokenizer.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    tokenizer.add_special_tokens(["<unk>", "<s>", "</s>"])
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(json.dumps(dict(bos_token="<s>", eos_token="</s>", unk_token="<unk>")))
    return folder


def check_families(args, tokens):
    names, wrong = sorted(f.name for f in (ROOT / "tests/golden/family_adapters").iterdir()), []
    for name in names:
        print(f"--- {name}")
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            args.base = with_tokenizer(ROOT / "tests/golden" / name, folder / "model")
            data = folder / "ids.jsonl"
            data.write_text("".join(json.dumps({"input_ids": tokens[i:] + tokens[:i]}) + "\n" for i in (0, 3)))
            args.adapter = train(args, folder, [f"model={args.base}", f"data.train=[{{path: {data}, format: tokens}}]", "adapter.rank=4",
                                                "data.seq_len=16", "data.packing=false"]) / "adapter"
            model = load_base(args.base)
            base = logits_of(model, tokens)
            ours = run_hone(args, tokens)
            if not compare(args, tokens, ours, base, logits_of(load_adapter(model, args.adapter), tokens)):
                wrong.append(name)
    print(f"{len(names)} families, {len(wrong)} wrong: {wrong}")
    return 1 if wrong or not names else 0


def check_full(args, tokens):
    from transformers import AutoTokenizer
    base = logits_of(load_base(SMOLLM2), tokens)
    with tempfile.TemporaryDirectory() as folder:
        args.base, args.adapter = train(args, pathlib.Path(folder), ["adapter.kind=none", "optim.lr=0.0001"]) / "model", None
        text = "<|im_start|>user\nWhat is 2 + 2?<|im_end|>\n"
        ids = AutoTokenizer.from_pretrained(args.base)(text)["input_ids"]
        want = AutoTokenizer.from_pretrained(SMOLLM2.parent, gguf_file=SMOLLM2.name)(text)["input_ids"]
        print(f"tokenizer: {len(ids)} tokens, {'the same' if ids == want else f'FAIL: {want}'}")
        model = load_base(args.base)
        tied = model.get_input_embeddings().weight is model.get_output_embeddings().weight
        print(f"embeddings are {'tied' if tied else 'not tied: FAIL'}")
        return 0 if compare(args, tokens, run_hone(args, tokens), base, logits_of(model, tokens)) and ids == want and tied else 1


def read_logits(path):
    from safetensors.numpy import load_file
    return load_file(path)["logits"]


def compare(args, tokens, ours, base, peft):
    """Prints the differences; true when they are within the tolerance."""
    if ours.shape != peft.shape:
        print(f"FAIL: logits are {ours.shape}, PEFT's {peft.shape}")
        return False
    scale, moved = abs(peft).max(), abs(peft - base).max()
    error = abs(ours - peft).max(axis=1)
    worst = int(error.argmax())
    same = int((ours.argmax(axis=1) == peft.argmax(axis=1)).sum())
    print(f"{len(tokens)} tokens, vocabulary {ours.shape[1]}: the adapter moves the logits by at most {moved:.4g} (scale {scale:.4g})")
    print(f"max abs difference {error.max():.3g} at token {worst}, max relative {error.max() / scale:.3g}, same top-1 {same}/{len(tokens)}")
    if moved < 10 * args.tolerance * scale:
        print("FAIL: the adapter hardly moves the logits, so this would show nothing")
        return False
    ok = bool(error.max() <= args.tolerance * scale)       # NaN fails
    print("ok" if ok else f"FAIL: more than {args.tolerance:g} relative")
    return ok


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("adapter", nargs="?", type=pathlib.Path)
    parser.add_argument("--base", type=pathlib.Path, default=ROOT / "tests/golden/llama_tiny")
    parser.add_argument("--tokens", default="5,17,99,3,64,21,8,120,33,76,11,42")
    parser.add_argument("--logits", type=pathlib.Path, help="what `hone logits` wrote; without it, hone is run")
    parser.add_argument("--hone", type=pathlib.Path, default=ROOT / "build/release/src/cli/hone")
    parser.add_argument("--tolerance", type=float, default=1e-4)
    parser.add_argument("--save-base", type=pathlib.Path)
    parser.add_argument("--methods", action="store_true")
    parser.add_argument("--families", action="store_true")
    parser.add_argument("--full", action="store_true")
    args = parser.parse_args()
    if args.methods or args.families or args.full:
        tokens = [int(t) for t in args.tokens.split(",")]
        return (check_methods if args.methods else check_families if args.families else check_full)(args, tokens)
    if not args.adapter and not args.save_base:
        parser.error("name an adapter folder, --save-base DIR, --methods, --families or --full")
    model = load_base(args.base)
    if args.save_base:
        save_base(model, args.base, args.save_base)
    if not args.adapter:
        return 0
    tokens = [int(t) for t in args.tokens.split(",")]
    base = logits_of(model, tokens)
    peft = logits_of(load_adapter(model, args.adapter), tokens)
    ours = read_logits(args.logits) if args.logits else run_hone(args, tokens)
    return 0 if compare(args, tokens, ours, base, peft) else 1


if __name__ == "__main__":
    sys.exit(main())
