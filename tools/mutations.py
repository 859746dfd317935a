#!/usr/bin/env python3
"""Break Gemma 4 on purpose, once a line of the table, and see that the golden tests notice (developers only; a minute a mutation).

  python3 tools/mutations.py [NAME...]

Each mutation is one replacement in one source file: it is built, the tests of FILTER run and must fail, the file is put back. Exits 1 when
a mutation survives, does not apply or does not build. Works on the release build in build/release.
"""
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "release"
FILTER = "FamilyGolden.EveryLayer*"

PARTS, CONFIG, E = "src/models/gemma4_parts.cc", "src/models/gemma4_config.cc", "src/models/gemma4_e.cc"
MUTATIONS = {  # name: (file, what is there, what is put there instead)
    "norms multiply by 1 + weight": (PARTS, 'pre_attn(p / "input_layernorm", c.hidden, c.eps)',
                                     'pre_attn(p / "input_layernorm", c.hidden, c.eps, 1)'),
    "window one wider": (CONFIG, "c.slides = read_sliding", "++c.sliding.window; c.slides = read_sliding"),
    "window one narrower": (CONFIG, "c.slides = read_sliding", "--c.sliding.window; c.slides = read_sliding"),
    "full rope base x 10": (CONFIG, "read_rope_object(std::move(*o), c.full.head_dim, 1e6)",
                            "(read_rope_object(std::move(*o), c.full.head_dim, 1e6), nn::partial(nn::rope_frequencies(c.full.head_dim, 1e7), 0.25))"),
    "sliding rope base x 10": (CONFIG, "read_rope_object(std::move(*o), c.sliding.head_dim, 10000)",
                               "(read_rope_object(std::move(*o), c.sliding.head_dim, 10000), nn::rope_frequencies(c.sliding.head_dim, 1e5))"),
    "all of a full head turns": (CONFIG, "read_rope_object(std::move(*o), c.full.head_dim, 1e6)",
                                 "(read_rope_object(std::move(*o), c.full.head_dim, 1e6), nn::rope_frequencies(c.full.head_dim, 1e6))"),
    "no soft-cap of the logits": (PARTS, "if (c.softcap > 0) d.head = softcapped(d.head, c.softcap);", ""),
    "a soft-cap of the scores": ("src/models/gemma4.h", ".softcap = 0}", ".softcap = 1.5}"),
    "Gemma 2's soft-caps swapped": ("src/models/gemma2.cc", '.want("attn_logit_softcapping", c.attn_softcap, above(0))\n'
                                    '      .want("final_logit_softcapping", c.final_softcap, above(0));',
                                    '.want("attn_logit_softcapping", c.final_softcap, above(0))\n'
                                    '      .want("final_logit_softcapping", c.attn_softcap, above(0));'),
    "no layer scalar": ("src/models/gemma4.cc", "return scalar(h + norms.post_ffw(mlp(norms.pre_ffw(h))));",
                        "return h + norms.post_ffw(mlp(norms.pre_ffw(h)));"),
    "no layer scalar, E": (E, "return scalar(gate(h + norms.post_ffw(mlp(norms.pre_ffw(h))), inputs));",
                           "return gate(h + norms.post_ffw(mlp(norms.pre_ffw(h))), inputs);"),
    "values are the finished keys": (PARTS, "return {ctx.rope(kind.rope)(norm(raw)), unit(raw, eps)};",
                                     "const Value done = ctx.rope(kind.rope)(norm(raw)); return {done, done};"),
    "values not normalised": (PARTS, "unit(split_heads(v(x), kind.kv_heads), eps)};", "split_heads(v(x), kind.kv_heads)};"),
    "scores scaled by the head's size": ("src/models/gemma4.h", ".scale = 1,", ".scale = 0.25,"),
    "borrowers look at the first layer of their kind": (
        E, "state.*seen = remember(k, v, ctx, layer);\n    const Value found = queries.o(attend(q, state.*seen,",
        "const auto own = remember(k, v, ctx, layer);\n    if (!(state.*seen).k) state.*seen = own;\n"
        "    const Value found = queries.o(attend(q, own,"),
    "no scale of an expert": ("src/models/gemma4_moe.cc",
                              "r.weights = r.weights * take(convert(expert_scale, DType::kF32), r.experts);", ""),
    "expert weights not normalised": ("src/models/gemma4_moe.cc", "/*normalised=*/true", "/*normalised=*/false"),
    "experts read what the dense layer reads": ("src/models/gemma4_moe.cc", "experts(pre_experts(rows),",
                                                "experts(reshape(norms.pre_ffw(h), rows.dims()),"),
    "layer inputs off by one layer": (E, "at(static_cast<int64_t>(layer) * c.input)", "at(static_cast<int64_t>(layer ? layer - 1 : 0) * c.input)"),
}

def build():
    return subprocess.run(["cmake", "--build", BUILD, "--target", "engine_test"], capture_output=True, text=True)


def survives(name):
    path, old, new = MUTATIONS[name]
    file = ROOT / path
    text = file.read_text()
    if text.count(old) != 1:
        return f"its text is {text.count(old)} times in {path}"
    try:
        file.write_text(text.replace(old, new))
        built = build()
        if built.returncode != 0:
            return "does not build:\n" + built.stdout[-2000:]
        test = subprocess.run([BUILD / "src" / "engine" / "engine_test", f"--gtest_filter={FILTER}"], cwd=ROOT, capture_output=True, text=True)
        failures = test.stdout.count("Failure")
        print(f"{name}: {failures} failures", flush=True)
        return "" if test.returncode != 0 and failures > 0 else "no test fails"
    finally:
        file.write_text(text)


def main():
    bad = 0
    for name in sys.argv[1:] or MUTATIONS:
        if problem := survives(name):
            print(f"{name}: {problem}")
            bad += 1
    build()
    print(f"{len(sys.argv[1:] or MUTATIONS)} mutations, {bad} not caught")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
