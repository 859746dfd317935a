#include "ops/grouped_blocks.h"

#include <algorithm>

#include "ops/ops.h"

namespace hone {
namespace {

// More rows make a product with one group's matrix no faster, and waste more at a group's end.
constexpr int64_t kMostRows = 128;

// y[i] = x[0] + .. + x[i]
Value running_sum(Value x) {
  const Dims square{x.dim(0), x.dim(0)};
  const Value to = iota(*x.graph, square, 0, DType::kS32),
              from = iota(*x.graph, square, 1, DType::kS32);
  const Value each = broadcast(x, square, {1});
  return sum(select(compare(from, Compare::kLe, to), each, zeros_like(each)), {1});
}

int64_t block_rows(int64_t rows, int64_t groups) {
  int64_t size = 1;
  while (size < kMostRows && size * groups < rows) size *= 2;
  return size;
}

}  // namespace

GroupedBlocks grouped_blocks(Value sizes, int64_t rows) {
  Graph& g = *sizes.graph;
  const int64_t groups = sizes.dim(0), size = block_rows(rows, groups);
  const int64_t count = std::max<int64_t>(1, rows / size + std::min(groups, rows));
  sizes = maximum(sizes, zeros_like(sizes));
  const Value row_end = running_sum(sizes);
  const Value own = (sizes + constant_like(sizes, static_cast<double>(size - 1))) /
                    constant_like(sizes, static_cast<double>(size));
  const Value block_end = running_sum(own);

  const Value block = iota(g, {count}, 0, DType::kS32);
  const Dims table{count, groups};
  const Value over =
      compare(broadcast(block_end, table, {1}), Compare::kLe, broadcast(block, table, {0}));
  const Value group = sum(convert(over, DType::kS32), {1});  // `groups` for one that is not needed
  const Value known = minimum(group, constant_like(group, static_cast<double>(groups - 1)));
  auto of_group = [&](Value v) { return take(v, known); };
  const Value number = block - of_group(block_end - own);
  const Value start =
      of_group(row_end - sizes) + number * constant_like(number, static_cast<double>(size));
  const Value last = constant_like(start, static_cast<double>(rows));
  const Value needed = compare(group, Compare::kEq, known);
  return {.rows = size,
          .count = count,
          .group = known,
          .start = select(needed, start, last),
          .end = select(needed, minimum(of_group(row_end), last), zeros_like(last))};
}

}  // namespace hone
