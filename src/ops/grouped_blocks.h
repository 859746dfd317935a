// Rows that are sorted by group, cut into blocks of a fixed size each of which lies in one group:
// what lets a program of fixed shapes work through groups whose sizes it learns when it runs.
#pragma once

#include "ir/graph.h"

namespace hone {

struct GroupedBlocks {
  int64_t rows;   // of a block
  int64_t count;  // enough for any sizes
  Value group;    // i32 [count]
  // Block i's own rows are those from start[i] to before end[i], at most `rows`; blocks are in the
  // order of their rows. Those that are not needed come last, have start >= the number of rows, and
  // no row of their own. i32 [count].
  Value start, end;
};

// `sizes`, i32 [groups], has the rows of each group. Sizes below 0 count as 0; groups and parts of
// groups past the last row are empty.
GroupedBlocks grouped_blocks(Value sizes, int64_t rows);

}  // namespace hone
