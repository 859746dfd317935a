// What is trained, on the device, from and to PEFT's folder.
#pragma once

#include "ckpt/peft.h"
#include "engine/weights.h"

namespace hone::engine {

nn::Tuning tuning_of(const ckpt::PeftAdapter& adapter);

// The adapter's tensors on the device, by the names that `params` declares. Throws ConfigError when
// one is missing, has another shape, or is used by nothing.
Buffers load_adapter(const Device& device, const ckpt::PeftAdapter& adapter,
                     const nn::Params& params);

// What is trained, as PEFT starts it: A uniform (Kaiming, a = sqrt 5), B zero, DoRA's magnitudes
// the lengths of W's rows, and weights that are trained whole as they are in the files.
Buffers new_trained(const Device& device, const ModelFiles& files, const nn::Params& params,
                    uint64_t seed);

// What is trained, as a PEFT folder holds it.
ckpt::PeftAdapter peft_of(const nn::Lora& lora, const Buffers& trained, const nn::Params& params,
                          const std::string& base_model);

}  // namespace hone::engine
