#!/usr/bin/env python3
"""The peer for inference on CPU: llama.cpp (built for this machine) on a GGUF file, in the protocol of bench/README.md.

llama.cpp's defaults (float16 cache), one sequence, greedy; the prompt is any tokens, since its content costs nothing.
"""
import argparse
import json
import sys
import time

import llama_cpp
import numpy as np


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    for name, default in (("prompt-tokens", 512), ("new-tokens", 64), ("threads", 2)):
        parser.add_argument("--" + name, type=int, default=default)
    args = parser.parse_args()
    total = args.prompt_tokens + args.new_tokens
    llama = llama_cpp.Llama(args.model, n_ctx=total, n_batch=512, n_threads=args.threads, n_threads_batch=args.threads,
                            verbose=False)
    prompt = [3 + 7919 * i % (llama.n_vocab() - 3) for i in range(args.prompt_tokens)]

    def best():
        return int(np.ctypeslib.as_array(llama_cpp.llama_get_logits(llama.ctx), shape=(llama.n_vocab(),)).argmax())

    print(json.dumps({"ready": True, "name": f"llama.cpp (llama-cpp-python {llama_cpp.__version__})"}), flush=True)
    for _ in sys.stdin:
        llama.reset()
        start = time.perf_counter()
        llama.eval(prompt)
        token = best()
        middle = time.perf_counter()
        for _ in range(args.new_tokens):
            llama.eval([token])
            token = best()
        end = time.perf_counter()
        print(json.dumps({"prefill_tokens_per_second": args.prompt_tokens / (middle - start),
                          "decode_tokens_per_second": args.new_tokens / (end - middle)}), flush=True)


if __name__ == "__main__":
    main()
