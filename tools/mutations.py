#!/usr/bin/env python3
"""Break the families on purpose, once a line of the table, and see that the golden tests notice (developers only; a minute a mutation).

  python3 tools/mutations.py [NAME...]

Each mutation is one replacement in one source file: it is built, the tests of FILTER run and must fail, the file is put back. Where the
table names tiny models, each of them must fail. Exits 1 when a mutation survives, does not apply or does not build. Works on the release
build in build/release.
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "release"
FILTER = "FamilyGolden.EveryLayer*"

PARTS, CONFIG, E = "src/models/gemma4_parts.cc", "src/models/gemma4_config.cc", "src/models/gemma4_e.cc"
NORM, SHARED = "src/nn/norm.cc", "src/models/config.cc"
GEMMA2, GEMMA3 = "src/models/gemma2.cc", "src/models/gemma3.cc"
LLAMAS, GEMMAS = "llama llama31 mistral qwen2 qwen3 mixtral", "gemma2 gemma3_text gemma3"
MUTATIONS = {  # name: (file, what is there, what is put there instead[, the models that must notice])
    "Llama's norms multiply by 1 + weight": (NORM, "if (offset != 0) weight_", "if (offset == 0) offset = 1;\n  if (offset != 0) weight_", LLAMAS),
    "Gemma's norms multiply by their weight": (NORM, "DType::kF32) + offset;", "DType::kF32) + 0 * offset;", GEMMAS),
    "some layers' windows one wider": (SHARED, "slides ? window : 0", "slides ? window + 1 : 0", GEMMAS),
    "some layers' windows one narrower": (SHARED, "slides ? window : 0", "slides ? window - 1 : 0", GEMMAS),
    "all layers' windows one wider": (SHARED, "static_cast<size_t>(layers), window);", "static_cast<size_t>(layers), window + 1);", "mistral mixtral"),
    "all layers' windows one narrower": (SHARED, "static_cast<size_t>(layers), window);", "static_cast<size_t>(layers), window - 1);", "mistral mixtral"),
    "rope base x 10": (SHARED, 'r.want("rope_theta", theta, above(0));', 'r.want("rope_theta", theta, above(0));\n  theta *= 10;',
                       LLAMAS + " " + GEMMAS),
    "no linear scaling": (SHARED, "for (double& f : rope) f /= factor;\n  } else if (type == \"llama3\")", "} else if (type == \"llama3\")",
                          "llama_linear gemma3_text"),
    "no scaling of Llama 3": (SHARED, "rope = nn::scaled(rope, s);", "", "llama31"),
    "Gemma 2's scores are not soft-capped": (GEMMA2, ".softcap = c.attn_softcap", ".softcap = 0", "gemma2"),
    "Gemma 2's scores scaled by the head's size": (GEMMA2, "std::sqrt(c.query_scalar)", "std::sqrt(static_cast<double>(c.head_dim))", "gemma2"),
    "Gemma 3's scores scaled by the head's size": (GEMMA3, "std::sqrt(c.query_scalar)", "std::sqrt(static_cast<double>(c.head_dim))", "gemma3_text"),
    "Gemma 3's ropes swapped": (GEMMA3, "window > 0 ? c.local_rope : c.rope", "window > 0 ? c.rope : c.local_rope", "gemma3_text gemma3"),
    "Gemma 3's keys not normalised": (GEMMA3, "rope(k_norm(split_heads(p.k(x), c.kv_heads)))", "rope(split_heads(p.k(x), c.kv_heads))",
                                      "gemma3_text gemma3"),
    "Qwen 2's keys without bias": ("src/models/qwen2.cc", "rope(split_heads(add(p.k(x), k_bias), c.kv_heads))",
                                   "rope(split_heads(p.k(x), c.kv_heads))", "qwen2"),
    "Qwen 3's queries normalised after they turn": ("src/models/qwen3_attention.h", "rope(q_norm(split_heads(p.q(x), c.heads)))",
                                                    "q_norm(rope(split_heads(p.q(x), c.heads)))", "qwen3 qwen3_moe"),
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
    path, old, new, *models = MUTATIONS[name]
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
        failures, noticed = test.stdout.count("Failure"), set(re.findall(r": (\w+)_tiny$", test.stdout, re.MULTILINE))
        print(f"{name}: {failures} failures in {len(noticed)} models", flush=True)
        if test.returncode == 0 or failures == 0:
            return "no test fails"
        missed = set(" ".join(models).split()) - noticed
        return f"not noticed by {', '.join(sorted(missed))}" if missed else ""
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
