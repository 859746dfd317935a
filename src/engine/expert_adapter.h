// Adapters on weights that hold the matrices of many experts, as PEFT has them
// ("target_parameters", its ParamWrapper): one pair of flat matrices a weight, under the name of
// the module around it.
//
//   here  A [experts, rank, in]     B [experts, out, rank]      ...experts.down_proj.lora_A.weight
//   PEFT  A [experts * rank, in]    B [out, rank * experts]     ...experts.lora_A.weight
//
// PEFT wraps the module once a weight, the first weight innermost, so the names of all but the last
// adapted weight of a module have a ".base_layer" for each weight after them.
#pragma once

#include "ckpt/peft.h"
#include "nn/scope.h"

namespace hone::engine {

// Whether this weight belongs to such an adapter, and the path of the weight that it adapts.
bool adapts_parameter(const nn::Weight& w);
std::string adapted_parameter(const nn::Weight& w);

// PEFT's name and dims for an adapter's weight of any kind; `params` declares it and its
// neighbours.
std::string peft_name(const nn::Weight& w, const nn::Params& params);
Dims peft_dims(const nn::Weight& w);
std::vector<float> to_peft(const nn::Weight& w, std::vector<float> values);
std::vector<float> from_peft(const nn::Weight& w, std::vector<float> values);

}  // namespace hone::engine
