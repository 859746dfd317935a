// Every operation, in one list that tests walk; tools/check_tree.py holds it against the folder.
#pragma once

#include <span>

#include "ir/graph.h"

namespace hone {

std::span<const Op* const> all_ops();

}  // namespace hone
