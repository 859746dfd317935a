#!/usr/bin/env python3
"""Make the golden files of the mixtures of experts under tests/golden (developers only).

  python3 tools/golden_moe.py                 everything below
  python3 tools/golden_moe.py models          NAME_tiny and NAME_tiny.safetensors, as tools/golden_families.py makes them
  python3 tools/golden_moe.py gguf            NAME_tiny.gguf of two of them, as llama.cpp's converter names and orders tensors; llama.cpp
                                              must compute the same logits from them
  python3 tools/golden_moe.py adapters        expert_adapters/NAME: PEFT folders with adapters on experts, logits, ten LoRA steps

Versions: tools/requirements-golden.txt. Models that end in "fused" are saved with transformers 5's own names, others as transformers
saves them: a tensor for each expert.
"""
import json
import pathlib
import shutil
import sys

import golden
import golden_families

COMMON = dict(golden_families.COMMON, hidden_size=32, intermediate_size=24, num_hidden_layers=2)
MODELS = {
    "mixtral": dict(family="mixtral", head_dim=16, sliding_window=4, num_local_experts=4, num_experts_per_tok=2),
    "mixtral_fused": dict(family="mixtral", num_local_experts=3, num_experts_per_tok=1, tie_word_embeddings=True),
    # The second of three layers is dense.
    "qwen3_moe": dict(family="qwen3_moe", head_dim=16, num_hidden_layers=3, intermediate_size=48, moe_intermediate_size=16, num_experts=8,
                      num_experts_per_tok=3, norm_topk_prob=True, mlp_only_layers=[1]),
    "qwen3_moe_fused": dict(family="qwen3_moe", moe_intermediate_size=16, num_experts=5, num_experts_per_tok=2, norm_topk_prob=False),
}
ATTENTION = ["q_proj", "k_proj", "v_proj", "o_proj"]
# Without a window and dense layers: llama.cpp has neither in these architectures.
GGUF_MODELS = {
    "mixtral_gguf": dict(family="mixtral", head_dim=16, num_local_experts=4, num_experts_per_tok=2),
    "qwen3_moe_gguf": dict(family="qwen3_moe", head_dim=16, moe_intermediate_size=16, num_experts=6, num_experts_per_tok=2, norm_topk_prob=True),
}
ADAPTERS = {
    "both": dict(model="mixtral_tiny", coef=0.1, target_modules=ATTENTION,
                 target_parameters=["mlp.experts.gate_up_proj", "mlp.experts.down_proj"]),
    "one": dict(model="mixtral_fused_tiny", coef=0.0, target_modules=["q_proj"], target_parameters=["experts.down_proj"], use_rslora=True),
    "patterns": dict(model="qwen3_moe_tiny", coef=0.02, target_modules=["v_proj"],
                     target_parameters=["experts.gate_up_proj", "experts.down_proj"],
                     rank_pattern={"gate_up_proj": 2, "layers.0.self_attn.v_proj": 1}, alpha_pattern={"experts.down_proj": 2}),
    "alone": dict(model="qwen3_moe_fused_tiny", coef=0.05, target_modules=[], target_parameters=["experts.gate_up_proj"]),
}


def make(name, seed):
    torch = golden.torch_once()
    from transformers import AutoConfig, AutoModelForCausalLM
    options = dict(COMMON, **(MODELS | GGUF_MODELS)[name])
    config = AutoConfig.for_model(options.pop("family"), **options)
    model = AutoModelForCausalLM.from_config(config, attn_implementation="eager").float().eval()
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for key, p in model.named_parameters():
            if key.endswith("norm.weight"):
                p.copy_(0.5 + torch.rand(p.shape, generator=generator))
            else:
                scale = 0.7 if "embed" in key else p.shape[-1] ** -0.5
                p.copy_(torch.randn(p.shape, generator=generator) * scale)
    return model


def load(name):
    torch = golden.torch_once()
    from transformers import AutoModelForCausalLM
    return AutoModelForCausalLM.from_pretrained(golden.GOLDEN / name, dtype=torch.float32, attn_implementation="eager").eval()


def models():
    from safetensors.torch import save_file
    for seed, name in enumerate(MODELS, 70):
        folder = golden.GOLDEN / f"{name}_tiny"
        shutil.rmtree(folder, ignore_errors=True)
        model = make(name, seed)
        model.save_pretrained(folder)
        if name.endswith("fused"):
            own = {k: v.contiguous() for k, v in model.state_dict().items() if k != "lm_head.weight" or not model.config.tie_word_embeddings}
            save_file(own, folder / "model.safetensors", metadata={"format": "pt"})
        (folder / "generation_config.json").unlink(missing_ok=True)
        tokens = golden.tokens_for(10, 2, 12)
        save_file(golden_families.activations(load(f"{name}_tiny"), tokens), golden.GOLDEN / f"{name}_tiny.safetensors")
        golden.manifest(f"{name}_tiny", [f for f in folder.iterdir() if f.name != "MANIFEST.json"] + [golden.GOLDEN / f"{name}_tiny.safetensors"],
                        script=pathlib.Path(__file__))


def interleaved(weight, heads):
    """llama.cpp's order of the rows of a rotary projection."""
    return weight.reshape(heads, 2, weight.shape[0] // heads // 2, -1).swapaxes(1, 2).reshape(weight.shape)


def gguf_tensors(model, mixtral):
    """By llama.cpp's names, all float32."""
    c, w = model.config, {k: v.detach().numpy() for k, v in model.state_dict().items()}
    yield "token_embd.weight", w["model.embed_tokens.weight"]
    yield "output_norm.weight", w["model.norm.weight"]
    yield "output.weight", w["lm_head.weight"]
    for i in range(c.num_hidden_layers):
        own = {k.removeprefix(f"model.layers.{i}."): v for k, v in w.items() if k.startswith(f"model.layers.{i}.")}
        q, k = own["self_attn.q_proj.weight"], own["self_attn.k_proj.weight"]
        if mixtral:
            q, k = interleaved(q, c.num_attention_heads), interleaved(k, c.num_key_value_heads)
        else:
            yield f"blk.{i}.attn_q_norm.weight", own["self_attn.q_norm.weight"]
            yield f"blk.{i}.attn_k_norm.weight", own["self_attn.k_norm.weight"]
        yield f"blk.{i}.attn_q.weight", q
        yield f"blk.{i}.attn_k.weight", k
        yield f"blk.{i}.attn_v.weight", own["self_attn.v_proj.weight"]
        yield f"blk.{i}.attn_output.weight", own["self_attn.o_proj.weight"]
        yield f"blk.{i}.attn_norm.weight", own["input_layernorm.weight"]
        yield f"blk.{i}.ffn_norm.weight", own["post_attention_layernorm.weight"]
        gates, rest = own["mlp.experts.gate_up_proj"].reshape(c.num_local_experts, 2, -1, c.hidden_size).swapaxes(0, 1)
        yield f"blk.{i}.ffn_gate_inp.weight", own["mlp.gate.weight"]
        yield f"blk.{i}.ffn_gate_exps.weight", gates
        yield f"blk.{i}.ffn_up_exps.weight", rest
        yield f"blk.{i}.ffn_down_exps.weight", own["mlp.experts.down_proj"]


def llama_cpp_logits(path, tokens, vocab):
    import llama_cpp
    import numpy as np
    parameters = llama_cpp.llama_model_default_params()
    parameters.use_extra_bufts = False
    model = llama_cpp.llama_model_load_from_file(str(path).encode(), parameters)
    options = llama_cpp.llama_context_default_params()
    options.n_ctx, options.n_threads, options.type_k, options.type_v = 64, 1, 0, 0
    context = llama_cpp.llama_init_from_model(model, options)
    batch = llama_cpp.llama_batch_init(len(tokens), 0, 1)
    batch.n_tokens = len(tokens)
    for i, t in enumerate(tokens):
        batch.token[i], batch.pos[i], batch.n_seq_id[i], batch.logits[i] = t, i, 1, 1
        batch.seq_id[i][0] = 0
    assert llama_cpp.llama_decode(context, batch) == 0
    return np.ctypeslib.as_array(llama_cpp.llama_get_logits(context), shape=(len(tokens), vocab)).copy()


def gguf():
    import gguf as library
    import numpy as np
    from safetensors.torch import save_file
    for name in ("mixtral", "qwen3_moe"):
        model, mixtral = make(f"{name}_gguf", 80), name == "mixtral"
        c = model.config
        path = golden.GOLDEN / f"{name}_tiny.gguf"
        out = library.GGUFWriter(path, "llama" if mixtral else "qwen3moe")
        out.add_vocab_size(c.vocab_size)
        out.add_context_length(c.max_position_embeddings)
        out.add_embedding_length(c.hidden_size)
        out.add_block_count(c.num_hidden_layers)
        out.add_feed_forward_length(c.intermediate_size)
        out.add_head_count(c.num_attention_heads)
        out.add_head_count_kv(c.num_key_value_heads)
        out.add_key_length(c.head_dim)
        out.add_value_length(c.head_dim)
        out.add_layer_norm_rms_eps(c.rms_norm_eps)
        out.add_rope_freq_base(c.rope_parameters["rope_theta"])
        out.add_rope_dimension_count(c.head_dim)
        out.add_expert_count(c.num_local_experts)
        out.add_expert_used_count(c.num_experts_per_tok)
        if not mixtral:
            out.add_expert_feed_forward_length(c.moe_intermediate_size)
        out.add_tokenizer_model("none")
        for key, value in gguf_tensors(model, mixtral):
            out.add_tensor(key, np.ascontiguousarray(value, dtype=np.float32))
        out.write_header_to_file()
        out.write_kv_data_to_file()
        out.write_tensors_to_file()
        out.close()
        torch = golden.torch_once()
        tokens = golden.tokens_for(10, 12)
        with torch.no_grad():
            logits = model(input_ids=tokens.long()[None], use_cache=False).logits[0].contiguous()
        error = abs(llama_cpp_logits(path, tokens.tolist(), c.vocab_size) - logits.numpy()).max() / abs(logits.numpy()).max()
        print(f"{name}: llama.cpp differs from transformers by {error:.1e} of the largest logit")
        if error > 1e-3:
            sys.exit(f"golden: {path.name} is not what llama.cpp reads")
        save_file({"tokens": tokens, "logits": logits}, golden.GOLDEN / f"{name}_tiny_gguf.safetensors")
        golden.manifest(f"{name}_tiny_gguf", [path, golden.GOLDEN / f"{name}_tiny_gguf.safetensors"], script=pathlib.Path(__file__))


def ten_steps(model, coef, tokens, mask):
    """As golden.curve(), with the routers' loss; tokens after the last of a row's targets are padding."""
    torch = golden.torch_once()
    from transformers import get_cosine_schedule_with_warmup
    model.train()
    parameters = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(parameters, lr=golden.PEAK_LR, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0, foreach=False)
    schedule = get_cosine_schedule_with_warmup(optimizer, golden.WARMUP, golden.STEPS)
    steps = []
    for t, m in zip(tokens, mask):
        real = m.flip(1).cumsum(1).flip(1) > 0
        out = model(input_ids=t.long(), attention_mask=real.long(), use_cache=False, output_router_logits=True)
        losses = torch.nn.functional.cross_entropy(out.logits[:, :-1].transpose(1, 2), t[:, 1:].long(), reduction="none") * m[:, 1:]
        loss = losses.sum() / m.sum() + coef * out.aux_loss
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        steps.append(dict(lr=schedule.get_last_lr()[0], loss=loss.item(), aux_loss=out.aux_loss.item(), grad_norm=norm.item()))
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
    return steps


def adapters():
    torch = golden.torch_once()
    from peft import LoraConfig, get_peft_model
    from safetensors.torch import load_file, save_file
    root = golden.GOLDEN / "expert_adapters"
    shutil.rmtree(root, ignore_errors=True)
    batches = load_file(golden.GOLDEN / "lora_curve.safetensors")
    for seed, (name, options) in enumerate(ADAPTERS.items()):
        options = dict(options)
        base, coef = options.pop("model"), options.pop("coef")
        model = get_peft_model(load(base), LoraConfig(r=3, lora_alpha=6, lora_dropout=0.0, bias="none", task_type="CAUSAL_LM", **options))
        model.peft_config["default"].base_model_name_or_path = base
        generator = torch.Generator().manual_seed(seed)
        with torch.no_grad():
            for p in (p for p in model.parameters() if p.requires_grad):
                p.mul_(0.5 + torch.rand(p.shape, generator=generator)).add_(torch.randn(p.shape, generator=generator) * 0.2)
        folder = root / name
        model.save_pretrained(folder)
        (folder / "README.md").unlink(missing_ok=True)
        config = json.loads((folder / "adapter_config.json").read_text())
        for key in ("target_modules", "target_parameters"):
            config[key] = sorted(config[key])      # a set in PEFT
        golden.write_json(folder / "adapter_config.json", config)
        tokens = golden.tokens_for(10, 12)
        with torch.no_grad():
            logits = model.eval()(input_ids=tokens.long()[None], use_cache=False).logits[0]
        steps = ten_steps(model, coef, batches["tokens"], batches["mask"])
        final = {f"final/{k}": v for k, v in golden.adapter_tensors(model).items()}
        save_file({"tokens": tokens, "logits": logits.contiguous(), **final}, folder / "golden.safetensors")
        golden.write_json(folder / "curve.json", dict(model=base, router_aux_loss_coef=coef, clip_grad_norm=1.0, steps=steps))
        golden.manifest(f"expert_adapters/{name}", [f for f in folder.iterdir() if f.name != "MANIFEST.json"], script=pathlib.Path(__file__))


def main():
    golden.require_versions()
    parts = dict(models=models, gguf=gguf, adapters=adapters)
    for name in sys.argv[1:] or parts:
        parts[name]()


if __name__ == "__main__":
    main()
