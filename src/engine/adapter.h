// What is trained, on the device, from and to PEFT's folder.
#pragma once

#include "ckpt/peft.h"
#include "engine/weights.h"

namespace hone::engine {

nn::Tuning tuning_of(const ckpt::PeftAdapter& adapter);

// A name that no layer answers to is a mistake, not a smaller adapter. `place` says where the names
// come from. Throws ConfigError.
void check_targets(const nn::Tuning& tuning, const nn::Params& params, std::string_view place);

// Takes out copies of the base's own weights ("lm_head.base_layer.weight"), which PEFT saves with
// an adapter on the head. Throws ConfigError when they are not this base's.
void drop_base_weights(ckpt::PeftAdapter& adapter, const ModelFiles& files);

// The adapter's tensors on the device, by the names that `params` declares. Throws ConfigError when
// one is missing, has another shape, or is used by nothing.
Buffers load_adapter(const Device& device, const ckpt::PeftAdapter& adapter,
                     const nn::Params& params);

// What is trained, as PEFT starts it: A uniform (Kaiming, a = sqrt 5), B zero, DoRA's magnitudes
// the lengths of W's rows as `frozen` holds them, and weights that are trained whole as they are in
// the files.
Buffers new_trained(const Device& device, const ModelFiles& files, const nn::Params& params,
                    const Buffers& frozen, uint64_t seed);

// What is trained, as a PEFT folder holds it. `from` is the config of the adapter that the training
// went on from, or null.
ckpt::PeftAdapter peft_of(const nn::Lora& lora, const Buffers& trained, const nn::Params& params,
                          const std::string& base_model, const nlohmann::json& from = {});

}  // namespace hone::engine
