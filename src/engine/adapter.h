// A LoRA adapter on the device, from and to PEFT's folder.
#pragma once

#include "ckpt/peft.h"
#include "engine/weights.h"

namespace hone::engine {

nn::Lora lora_of(const ckpt::PeftAdapter& adapter);

// The adapter's tensors on the device, by the names that `params` declares. Throws ConfigError when
// one is missing, has another shape, or is used by nothing.
Buffers load_adapter(const Device& device, const ckpt::PeftAdapter& adapter,
                     const nn::Params& params);

// A new adapter: A uniform as PEFT starts it (Kaiming, a = sqrt 5), B zero.
Buffers new_adapter(const Device& device, const nn::Params& params, uint64_t seed);

// Reads the tensors that `params` declares back from the device.
std::vector<ckpt::PeftTensor> adapter_tensors(const Buffers& buffers, const nn::Params& params);

// The last components of the paths of the layers that have an adapter, sorted: "down_proj", ...
std::vector<std::string> target_modules(const nn::Params& params);

}  // namespace hone::engine
