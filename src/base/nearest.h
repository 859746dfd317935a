// "Did you mean": the known name that a misspelt one stands for.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace hone {

// Insertions, deletions, substitutions and swaps of neighbours that turn a into b.
size_t edit_distance(std::string_view a, std::string_view b);

// The name in `known` nearest to `word`, or "" when none is near enough to be meant: a third of
// the word's letters may differ. - and _ and upper and lower case count as the same letter.
std::string_view nearest(std::string_view word, std::span<const std::string_view> known);

// `; did you mean "rank"?`, or "" when nothing is near.
std::string did_you_mean(std::string_view word, std::span<const std::string_view> known);

}  // namespace hone
