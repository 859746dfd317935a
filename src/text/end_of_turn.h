// The names that models give to the token that ends a turn of a chat, where the file does not say.
#pragma once

#include <array>
#include <string_view>

namespace hone::text {

// In order of preference: a vocabulary may hold more than one.
inline constexpr std::array<std::string_view, 7> kEndsOfTurn = {
    "<|eot_id|>",              // Llama 3
    "<|im_end|>",              // ChatML: Qwen, SmolLM2, Yi
    "<end_of_turn>",           // Gemma 1 to 3
    "<turn|>",                 // Gemma 4
    "<|end|>",                 // Phi 3
    "<|eot|>",                 // Llama 4
    "<|END_OF_TURN_TOKEN|>"};  // Command R

}  // namespace hone::text
