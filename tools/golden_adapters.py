#!/usr/bin/env python3
"""Make tests/golden/adapters: PEFT folders of many kinds for llama_tiny, and the logits with each (developers only).

  python3 tools/golden_adapters.py

Every tensor that PEFT trains is random, so that none of them can be left out unseen. ADAPTER/logits.safetensors holds `tokens`
and `logits`. Versions: tools/requirements-golden.txt.
"""
import json
import shutil

import golden

KINDS = {
    "rslora": dict(r=4, lora_alpha=4, use_rslora=True, target_modules=["q_proj", "down_proj"]),
    "dora": dict(r=2, lora_alpha=4, use_dora=True, target_modules=["v_proj", "up_proj"]),
    "expression": dict(r=2, lora_alpha=4, target_modules=r".*\.layers\.[02]\.self_attn\.(q|o)_proj", exclude_modules=r".*2.*o_proj"),
    "patterns": dict(r=2, lora_alpha=4, target_modules=["q_proj", "k_proj", "gate_proj"], rank_pattern={"q_proj": 3, r"layers.1.*k_proj": 1},
                     alpha_pattern={r"^model\.layers\.0\..*k_proj": 12, "gate_proj": 1}),
    "layers": dict(r=2, lora_alpha=4, target_modules=["v_proj"], layers_to_transform=[1, 2], layers_pattern="layers"),
    "saved": dict(r=2, lora_alpha=4, target_modules="all-linear", exclude_modules=["gate_proj"],
                  modules_to_save=["lm_head", "embed_tokens", "model.norm"]),
    "head": dict(r=2, lora_alpha=4, target_modules=["lm_head", "o_proj"]),
}


def main():
    golden.require_versions()
    torch = golden.torch_once()
    from peft import LoraConfig, get_peft_model
    from safetensors.torch import save_file
    root = golden.GOLDEN / "adapters"
    shutil.rmtree(root, ignore_errors=True)
    for seed, (name, options) in enumerate(KINDS.items()):
        model = get_peft_model(golden.load_tiny(), LoraConfig(lora_dropout=0.0, bias="none", task_type="CAUSAL_LM", **options)).eval()
        model.peft_config["default"].base_model_name_or_path = "llama_tiny"
        generator = torch.Generator().manual_seed(seed)
        with torch.no_grad():
            for p in (p for p in model.parameters() if p.requires_grad):
                p.mul_(0.5 + torch.rand(p.shape, generator=generator)).add_(torch.randn(p.shape, generator=generator) * 0.2)
        folder = root / name
        model.save_pretrained(folder)
        (folder / "README.md").unlink(missing_ok=True)
        config = json.loads((folder / "adapter_config.json").read_text())
        if isinstance(config["target_modules"], list):
            config["target_modules"].sort()        # a set in PEFT
        golden.write_json(folder / "adapter_config.json", config)
        tokens = golden.tokens_for(10, 12)
        with torch.no_grad():
            logits = model(input_ids=tokens.long()[None], use_cache=False).logits[0]
        save_file({"tokens": tokens, "logits": logits.contiguous()}, folder / "logits.safetensors")
        for f in folder.iterdir():
            f.chmod(0o644)
    files = [f for f in root.glob("*/*")]
    print(f"{len(KINDS)} adapters, {len(files)} files, {sum(f.stat().st_size for f in files)} bytes")


if __name__ == "__main__":
    main()
