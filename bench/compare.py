#!/usr/bin/env python3
"""hone against PyTorch + PEFT and llama.cpp, interleaved in one run, as ratios (developers only; see bench/README.md).

  python3 bench/compare.py lora                          LoRA step, 4 x 512, at shares 1.0 and 0.15 of target tokens
  python3 bench/compare.py generate X.gguf               prefill 512 and decode 64
  python3 bench/compare.py lora --ours peer              the peer against itself: how far from 1 noise alone goes

Run it with the Python that has tools/requirements-golden.txt. Both sides stay loaded and take turns, A B B A A B ..., so that a
slow minute of the machine hits both; the ratio of each round is taken from its own two turns. Above 1, hone is faster.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PEERS = ROOT / "bench" / "peers"


class Side:
    """A loaded program that does one turn for each line on its standard input."""

    def __init__(self, command, threads):
        cpus = sorted(os.sched_getaffinity(0))[:threads]
        self.command = [str(c) for c in command]
        try:
            self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                            env=dict(os.environ, OMP_NUM_THREADS=str(threads), HF_HUB_OFFLINE="1"),
                                            preexec_fn=lambda: os.sched_setaffinity(0, cpus))
        except OSError as e:
            sys.exit(f"compare: cannot start {self.command[0]}: {e.strerror}; is it built?")
        self.name = self.read().get("name", "hone")

    def read(self):
        for line in self.process.stdout:
            if line.startswith("{"):
                return json.loads(line)
        sys.exit(f"compare: {' '.join(self.command)} ended with exit code {self.process.wait()}")

    def turn(self):
        self.process.stdin.write("go\n")
        self.process.stdin.flush()
        return self.read()

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def interleave(ours, peer, rounds):
    """Results of both sides, [(ours, peer)]; the first round is warm-up and is dropped."""
    results = []
    for i in range(rounds + 1):
        pair = {}
        for side in (ours, peer) if i % 2 == 0 else (peer, ours):
            time.sleep(0.3)            # idle threads of the side before may spin for a moment
            pair[side] = side.turn()
        if i > 0:
            results.append((pair[ours], pair[peer]))
            print(f"  round {i}: hone {json.dumps(pair[ours])}  peer {json.dumps(pair[peer])}", file=sys.stderr, flush=True)
    return results


def summary(what, names, results, key, unit, lower_is_better):
    a, b = [r[0][key] for r in results], [r[1][key] for r in results]
    ratios = [y / x if lower_is_better else x / y for x, y in zip(a, b)]
    line = dict(what=what, unit=unit, hone=statistics.median(a), peer=statistics.median(b), ratio=statistics.median(ratios),
                ratio_min=min(ratios), ratio_max=max(ratios), rounds=len(results), peer_name=names[1])
    line = {k: round(v, 3) if isinstance(v, float) else v for k, v in line.items()}
    print(f"{what}: {names[0]} {line['hone']} {unit}, {names[1]} {line['peer']} {unit}: "
          f"ratio {line['ratio']:.2f} ({line['ratio_min']:.2f} to {line['ratio_max']:.2f}, {len(results)} rounds)")
    return line


def run(args, command, peer_script, keys):
    peer_command = [sys.executable, PEERS / peer_script, *command[1:], "--threads", args.threads]
    our_command = [args.hone, "bench", *command, "--wait"]
    ours = Side(peer_command if args.ours == "peer" else our_command, args.threads)
    peer = Side(peer_command, args.threads)
    results = interleave(ours, peer, args.rounds)
    ours.close()
    peer.close()
    return [summary(what, (ours.name, peer.name), results, key, unit, lower) for what, key, unit, lower in keys]


def lora(args):
    lines = []
    for share in args.shares:
        command = ["lora", "--batch", args.batch, "--seq", args.seq, "--share", share]
        what = f"LoRA step {args.batch} x {args.seq}, share {share:g}"
        lines += run(args, command, "pytorch_lora.py", [(what, "seconds", "s", True)])
    return lines


def generate(args):
    command = ["generate", args.model, "--prompt-tokens", args.prompt_tokens, "--new-tokens", args.new_tokens]
    keys = [(f"prefill {args.prompt_tokens}", "prefill_tokens_per_second", "tokens/s", False),
            (f"decode {args.new_tokens} after {args.prompt_tokens}", "decode_tokens_per_second", "tokens/s", False)]
    return run(args, command, "llama_cpp_generate.py", keys)


def machine():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":")[1].strip()
    return "unknown"


def main():
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--rounds", type=int, default=5)
    common.add_argument("--threads", type=int, default=2)
    common.add_argument("--hone", type=pathlib.Path, default=ROOT / "build/release/src/cli/hone")
    common.add_argument("--ours", choices=["hone", "peer"], default="hone")
    common.add_argument("--json", type=pathlib.Path, help="also write the figures here")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    p = commands.add_parser("lora", parents=[common])
    p.add_argument("--batch", type=int, default=4)
    p.add_argument("--seq", type=int, default=512)
    p.add_argument("--shares", type=float, nargs="+", default=[1.0, 0.15])
    p.set_defaults(run=lora)
    p = commands.add_parser("generate", parents=[common])
    p.add_argument("model", type=pathlib.Path)
    p.add_argument("--prompt-tokens", type=int, default=512)
    p.add_argument("--new-tokens", type=int, default=64)
    p.set_defaults(run=generate)
    args = parser.parse_args()
    load = os.getloadavg()[0]
    print(f"machine: {machine()}, {args.threads} threads, load {load:.1f} before the run")
    if load > 0.5:
        print("compare: other programs are running; the figures will mean little", file=sys.stderr)
    lines = args.run(args)
    if args.json:
        args.json.write_text(json.dumps(dict(machine=machine(), threads=args.threads, load_before=load, results=lines), indent=1) + "\n")


if __name__ == "__main__":
    main()
