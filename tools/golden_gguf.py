#!/usr/bin/env python3
"""Make tests/golden/gguf_blocks.safetensors: blocks of every GGUF format we read, and their values by the reference.

  python3 tools/golden_gguf.py                         with gguf 0.19.0, numpy 2.4.6, safetensors 0.8.0; others are refused
  python3 tools/golden_gguf.py --ggml libggml-base.so  and first prove that ggml's own C functions give the same bits

For each format X: `X.blocks` (U8, [blocks, block bytes]) and `X.values` (F32, [blocks x block elements]). Most blocks are
random bytes whose f16 scales were replaced by finite ones (negative, subnormal and zero included); the rest are normal
numbers quantised by gguf where it can. The plain formats hold their special values: infinities, NaN, subnormals, both zeros.
"""
import argparse
import ctypes
import importlib.metadata
import pathlib

import gguf
import numpy as np
from gguf.quants import dequantize, quantize
from safetensors.numpy import save_file

OUT = pathlib.Path(__file__).resolve().parent.parent / "tests" / "golden" / "gguf_blocks.safetensors"
VERSIONS = {"gguf": "0.19.0", "numpy": "2.4.6", "safetensors": "0.8.0"}
SEED = 20240607
# Where a block's f16 numbers lie, in bytes from its start.
SCALES = {"Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2], "Q8_0": [0],
          "Q2_K": [80, 82], "Q3_K": [108], "Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208]}
SPECIAL_HALVES = [0x0000, 0x8000, 0x0001, 0x8001, 0x03ff, 0x0400, 0x7bff, 0xfbff]


def random_blocks(rng, name, count):
    """Any bytes are valid codes; a scale must be a finite f16."""
    size = gguf.GGML_QUANT_SIZES[gguf.GGMLQuantizationType[name]][1]
    blocks = rng.integers(0, 256, (count, size), dtype=np.uint8)
    for offset in SCALES[name]:
        halves = rng.integers(0, 1 << 16, count, dtype=np.uint16)
        halves[(halves & 0x7c00) == 0x7c00] ^= 0x4000
        halves[:len(SPECIAL_HALVES)] = SPECIAL_HALVES
        blocks[:, offset:offset + 2] = halves.view(np.uint8).reshape(count, 2)
    return blocks


def quantised_blocks(rng, name, count):
    kind = gguf.GGMLQuantizationType[name]
    elements, size = gguf.GGML_QUANT_SIZES[kind]
    try:
        return quantize(rng.standard_normal((count, elements), dtype=np.float32), kind).reshape(count, size)
    except NotImplementedError:
        return np.empty((0, size), np.uint8)


def plain_blocks(rng, name):
    if name in ("F16", "BF16"):  # every exponent, both signs, first, random and last fractions
        bits = 10 if name == "F16" else 7
        tops = np.arange(1 << (16 - bits), dtype=np.uint16) << bits
        fractions = [0, 1, (1 << bits) - 1]
        halves = np.concatenate([tops | f for f in fractions] + [tops | rng.integers(2, 1 << bits, len(tops), dtype=np.uint16)])
        return halves.astype(np.uint16).view(np.uint8).reshape(-1, 2)
    kind = {"F32": np.float32, "F64": np.float64}[name]
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, np.finfo(kind).smallest_subnormal, np.finfo(kind).max]
    if name == "F64":  # rounds to a subnormal, to the largest f32, to infinity
        special += [1e-45, 3.4028235e38, 3.4028235677973366e38, 1e300]
    values = np.concatenate([np.array(special, kind), rng.standard_normal(53).astype(kind)])
    return values.view(np.uint8).reshape(len(values), -1)


def reference(name, blocks):
    with np.errstate(all="ignore"):
        if name == "F64":
            return blocks.reshape(-1).view(np.float64).astype(np.float32)
        return dequantize(blocks.reshape(-1), gguf.GGMLQuantizationType[name]).astype(np.float32).reshape(-1)


def check_with_ggml(library, name, blocks, values):
    functions = {"F16": "ggml_fp16_to_fp32_row", "BF16": "ggml_bf16_to_fp32_row"}
    function = getattr(library, functions.get(name, f"dequantize_row_{name.lower().replace('_k', '_K')}"))
    out = np.empty_like(values)
    function(blocks.ctypes.data_as(ctypes.c_void_p), out.ctypes.data_as(ctypes.c_void_p), ctypes.c_int64(len(values)))
    same = (out.view(np.uint32) == values.view(np.uint32)) | (np.isnan(out) & np.isnan(values))
    if not same.all():
        raise SystemExit(f"{name}: {np.count_nonzero(~same)} of {len(values)} values differ from ggml's")
    print(f"{name}: {len(values)} values equal ggml's")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ggml", help="libggml-base.so of llama.cpp, to check the values against")
    library = parser.parse_args().ggml
    library = ctypes.CDLL(library) if library else None
    for package, version in VERSIONS.items():
        if (found := importlib.metadata.version(package)) != version:
            raise SystemExit(f"{package} is {found}; the golden file is made with {version}")

    rng = np.random.default_rng(SEED)
    tensors = {}
    for name in ["F32", "F16", "BF16", "F64", *SCALES]:
        if name in SCALES:
            count = 12 if name.endswith("K") else 32
            blocks = np.concatenate([random_blocks(rng, name, count), quantised_blocks(rng, name, 8)])
        else:
            blocks = plain_blocks(rng, name)
        values = reference(name, blocks)
        if library and name not in ("F32", "F64"):
            check_with_ggml(library, name, np.ascontiguousarray(blocks), values)
        tensors[f"{name}.blocks"] = np.ascontiguousarray(blocks)
        tensors[f"{name}.values"] = values
    versions = ", ".join(f"{package} {version}" for package, version in VERSIONS.items())
    save_file(tensors, OUT, {"made_by": f"tools/golden_gguf.py, seed {SEED}, {versions}"})
    print(f"{OUT.name}: {OUT.stat().st_size} bytes")


if __name__ == "__main__":
    main()
