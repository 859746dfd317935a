#!/usr/bin/env python3
"""Does hone compute what llama.cpp computes from a GGUF file? (developers only)

  python3 tools/check_gguf.py X.gguf [Y.gguf ...]

For each file: the most likely next token of 20 prompts of tools/golden_prompts.json where llama.cpp's top two are clearly apart, and the
perplexity of 4,096 tokens of the project's own documents, in windows of 512. Exits 1 unless every next token is the same and hone's
perplexity is within 0.5 % of llama.cpp's on the file widened to f32: on quantised weights llama.cpp rounds activations to 8 bits too,
which hone does not, and that perplexity is only shown. Runs build/release's hone. Versions: tools/requirements-golden.txt.
"""
import ctypes
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile

import llama_cpp
import numpy as np
from safetensors.numpy import load_file

ROOT = pathlib.Path(__file__).resolve().parent.parent
HONE = ROOT / "build/release/src/cli/hone"
CONTEXT, WINDOWS, CLEAR, PROMPTS, TOLERANCE = 512, 8, 0.5, 20, 0.005


def hone(*arguments):
    done = subprocess.run([HONE, *arguments], capture_output=True, text=True, cwd=ROOT)
    if done.returncode != 0:
        sys.exit(f"hone {' '.join(map(str, arguments))}: {done.stderr.strip()}")
    return done.stdout


def open_llama(path):
    return llama_cpp.Llama(str(path), n_ctx=CONTEXT, n_threads=2, logits_all=True, verbose=False,
                           type_k=llama_cpp.GGML_TYPE_F32, type_v=llama_cpp.GGML_TYPE_F32)


def widened(path, folder):
    """The file with f32 weights, as llama.cpp itself widens them."""
    out = folder / "f32.gguf"
    how = llama_cpp.llama_model_quantize_default_params()
    how.ftype, how.allow_requantize = 0, True  # LLAMA_FTYPE_ALL_F32
    if llama_cpp.llama_model_quantize(str(path).encode(), str(out).encode(), ctypes.byref(how)) != 0:
        sys.exit(f"llama.cpp does not widen {path}")
    return open_llama(out)


def scores(llama, tokens):
    llama.reset()
    llama.eval(tokens)
    return np.array(llama.scores[:len(tokens)], dtype=np.float64)


def check_next_tokens(path, llama, folder):
    same = total = 0
    for prompt in json.loads((ROOT / "tools/golden_prompts.json").read_text()):
        tokens = tokenised(llama, prompt)
        last = scores(llama, tokens)[-1]
        first, second = np.sort(last)[-1:-3:-1]
        if first - second < CLEAR:
            continue
        out = folder / "logits.safetensors"
        hone("logits", path, "--tokens", ",".join(map(str, tokens)), "--out", out)
        total += 1
        same += int(load_file(out)["logits"][-1].argmax() == last.argmax())
        if total == PROMPTS:
            break
    print(f"  next tokens: {same} of {total}")
    return same == total == PROMPTS


def log_probability(row, token):
    return row[token] - row.max() - math.log(np.exp(row - row.max()).sum())


def documents(llama):
    """The project's documents up to a little after llama.cpp's first windows."""
    names = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/performance.md")
    text = "".join((ROOT / name).read_text() for name in names)
    while len(tokens := tokenised(llama, text)) >= (WINDOWS + 1) * CONTEXT:
        text = text[:len(text) * (2 * WINDOWS + 1) * CONTEXT // (2 * len(tokens))]
    return text, tokens


def tokenised(llama, text):
    return llama.tokenize(text.encode(), add_bos=True, special=False)


def perplexity(llama, tokens):
    nll, counted = 0.0, 0
    adds_bos = llama.metadata.get("tokenizer.ggml.add_bos_token", "true") == "true" and llama.token_bos() >= 0
    for at in range(0, len(tokens) - CONTEXT + 1, CONTEXT):
        window = tokens[at:at + CONTEXT]
        if adds_bos:
            window[0] = llama.token_bos()
        rows = scores(llama, window)
        for i in range(CONTEXT // 2 + 1, CONTEXT):
            nll -= log_probability(rows[i - 1], window[i])
            counted += 1
    return math.exp(nll / counted), counted


def check_perplexity(path, llama, folder):
    text, tokens = documents(llama)
    as_it_is, counted = perplexity(llama, tokens)
    want, _ = perplexity(widened(path, folder), tokens)
    file = folder / "text.txt"
    file.write_text(text)
    line = hone("perplexity", path, "--file", file, "--context", str(CONTEXT)).strip()
    got, ours = re.fullmatch(r"perplexity (\S+) \+/- \S+ \((\d+) tokens.*", line).groups()
    difference = float(got) / want - 1
    print(f"  perplexity: {float(got):.4f}, llama.cpp on f32 {want:.4f} ({difference:+.2%}), on the file {as_it_is:.4f} "
          f"({float(got) / as_it_is - 1:+.2%}), of {counted} tokens")
    return int(ours) == counted and counted >= WINDOWS * (CONTEXT // 2 - 1) and abs(difference) <= TOLERANCE


def check(path):
    print(path.name)
    llama = open_llama(path)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        return all([check_next_tokens(path, llama, folder), check_perplexity(path, llama, folder)])


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(0 if all([check(pathlib.Path(p).resolve()) for p in sys.argv[1:]]) else 1)
