// The token ids that have a part to play.
#pragma once

#include <cstdint>
#include <optional>

namespace hone::text {

struct SpecialIds {                 // empty where the model has none
  std::optional<int32_t> bos, eos;  // begin and end of a text
  std::optional<int32_t> eot;       // end of a turn of a chat
  std::optional<int32_t> pad, unk;
};

}  // namespace hone::text
