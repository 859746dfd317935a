// Where the values of a declared weight lie in a checkpoint: in one tensor of its name, or in the
// pieces of another spelling (models/family.h).
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "models/family.h"

namespace hone::engine {

struct Piece {
  std::string name;
  Dims dims;
  // Its values are blocks of `run` in the weight's, from `first` on, each `stride` after the last.
  int64_t first, run, stride;
};

// The pieces of `name` in the first spelling that the checkpoint `has` a piece of; the weight
// itself where there is none, whether the checkpoint has it or not.
std::vector<Piece> pieces_of(std::span<const Spelling> spellings, const std::string& name,
                             const Dims& dims, const std::function<bool(std::string_view)>& has);

// The name of one of them.
std::string a_piece_of(std::span<const Spelling> spellings, const std::string& name,
                       const std::function<bool(std::string_view)>& has);

}  // namespace hone::engine
