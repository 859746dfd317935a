#include "engine/spelling.h"

#include <fmt/format.h>

namespace hone::engine {
namespace {

constexpr std::string_view kIndex = "{}";

std::string piece_name(const std::string& weight, const Spelling& s, size_t piece, int64_t index) {
  std::string name =
      weight.substr(0, weight.size() - s.weight.size()) + std::string(s.pieces[piece]);
  if (const size_t at = name.find(kIndex); at != std::string::npos)
    name.replace(at, kIndex.size(), std::to_string(index));
  return name;
}

const Spelling* spelling_of(std::span<const Spelling> spellings, const std::string& name,
                            const std::function<bool(std::string_view)>& has) {
  if (has(name)) return nullptr;
  for (const Spelling& s : spellings)
    if (name.ends_with(s.weight) && has(piece_name(name, s, 0, 0))) return &s;
  return nullptr;
}

}  // namespace

std::vector<Piece> pieces_of(std::span<const Spelling> spellings, const std::string& name,
                             const Dims& dims, const std::function<bool(std::string_view)>& has) {
  const int64_t size = Type{DType::kF32, dims}.size();
  const Spelling* s = spelling_of(spellings, name, has);
  if (s == nullptr) return {{name, dims, 0, size, size}};
  const int64_t count = s->pieces[1].empty() ? 1 : 2;
  const int64_t whole = size / dims[0], run = whole / count;  // of one index of axis 0
  if (count == 1 && s->pieces[0].find(kIndex) == std::string_view::npos)
    return {{piece_name(name, *s, 0, 0), dims, 0, size, size}};
  Dims each = dims;
  each[1] /= count;
  const bool apart = s->pieces[0].find(kIndex) != std::string_view::npos;
  if (apart) each.erase(each.begin());
  std::vector<Piece> pieces;
  for (int64_t index = 0; index < (apart ? dims[0] : 1); ++index)
    for (int64_t p = 0; p < count; ++p)
      pieces.push_back({piece_name(name, *s, static_cast<size_t>(p), index), each,
                        index * whole + p * run, run, whole});
  return pieces;
}

std::string a_piece_of(std::span<const Spelling> spellings, const std::string& name,
                       const std::function<bool(std::string_view)>& has) {
  const Spelling* s = spelling_of(spellings, name, has);
  return s == nullptr ? name : piece_name(name, *s, 0, 0);
}

}  // namespace hone::engine
