// Cases of what a mixture of experts is made of: the largest of a row, and products by group.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "ops/op_cases.h"
#include "ops/ops.h"

namespace hone {
namespace {

struct Group {
  size_t first, end;
};

// The rows of each group, of `rows` in all; sizes as an input of the table has them.
std::vector<Group> groups_of(const Numbers& sizes, size_t rows) {
  std::vector<Group> groups;
  size_t at = 0;
  for (double size : sizes) {
    const size_t end = std::min(rows, at + static_cast<size_t>(std::max(0.0, size)));
    groups.push_back({at, end});
    at = end;
  }
  return groups;
}

// y[r, j] of rows [rows, n] and w[g, n, k], or w[g, k, n] where it is transposed.
Numbers product(const std::vector<Numbers>& in, size_t rows, size_t columns, size_t out,
                bool transposed) {
  Numbers y(rows * out, 0);
  size_t g = 0;
  for (const Group& group : groups_of(in[2], rows)) {
    for (size_t r = group.first; r < group.end; ++r)
      for (size_t o = 0; o < out; ++o)
        for (size_t c = 0; c < columns; ++c) {
          const size_t at = transposed ? (g * columns + c) * out + o : (g * out + o) * columns + c;
          y[r * out + o] += in[0][r * columns + c] * in[1][at];
        }
    ++g;
  }
  return y;
}

Numbers outer(const std::vector<Numbers>& in, size_t rows, size_t n, size_t k) {
  Numbers z(in[2].size() * n * k, 0);
  size_t g = 0;
  for (const Group& group : groups_of(in[2], rows)) {
    for (size_t r = group.first; r < group.end; ++r)
      for (size_t i = 0; i < n; ++i)
        for (size_t j = 0; j < k; ++j)
          z[(g * n + i) * k + j] += in[0][r * n + i] * in[1][r * k + j];
    ++g;
  }
  return z;
}

// Row by row, the largest first.
Numbers largest(const Numbers& x, size_t columns, size_t k, bool places) {
  Numbers out;
  for (size_t row = 0; row < x.size(); row += columns) {
    std::vector<size_t> at(columns);
    std::iota(at.begin(), at.end(), 0);
    std::ranges::stable_sort(at, [&](size_t a, size_t b) { return x[row + a] > x[row + b]; });
    for (size_t i = 0; i < k; ++i)
      out.push_back(places ? static_cast<double>(at[i]) : x[row + at[i]]);
  }
  return out;
}

// `sizes`, one a group, whatever the table's random integers (0 to 2) are; {} takes those.
Value sizes_of(Graph& g, Value random, const std::vector<double>& sizes) {
  return sizes.empty() ? random : literal(g, random.type(), sizes);
}

}  // namespace

void grouped_cases(std::vector<OpCase>& all) {
  for (const Dims& dims : {Dims{5}, Dims{3, 4}, Dims{2, 3, 7}})
    for (const int64_t k : {int64_t{1}, int64_t{2}, dims.back()}) {
      const auto columns = static_cast<size_t>(dims.back()), kept = static_cast<size_t>(k);
      const std::string name = fmt::format("{} of {}", k, f64(dims).str());
      all.push_back({"top_k",
                     name,
                     {f64(dims)},
                     [=](Graph&, const Values& in) { return top_k(in[0], k).values; },
                     Domain::kNormal,
                     [=](const auto& in) { return largest(in[0], columns, kept, false); }});
      all.push_back({"top_k",
                     "places, " + name,
                     {f64(dims)},
                     [=](Graph&, const Values& in) {
                       const TopK top = top_k(in[0], k);
                       return convert(top.at, DType::kF64) + top.values * 0.0;
                     },
                     Domain::kNormal,
                     [=](const auto& in) { return largest(in[0], columns, kept, true); }});
    }
  all.push_back({"top_k",
                 "equal integers: the first place first",
                 {f64({1}), s32({9})},
                 [](Graph&, const Values& in) {
                   const Value at = convert(arg_sort(in[1]), DType::kF64);
                   return at + broadcast(in[0] * 0.0, at.dims(), {0});
                 },
                 Domain::kNormal,
                 [](const std::vector<Numbers>& in) {
                   Numbers lowest;
                   for (double v : in[1]) lowest.push_back(-v);
                   return largest(lowest, 9, 9, true);
                 }});

  struct Row {
    const char* name;
    int64_t rows;
    Dims w;  // [groups, n, k]
    std::vector<double> sizes;
  };
  const Row rows[] = {
      {"groups of random sizes", 4, {5, 2, 3}, {}},
      {"more rows than groups have", 9, {3, 2, 3}, {}},
      {"more groups than rows", 2, {7, 3, 2}, {0, 1, 0, 0, 1, 0, 0}},
      {"all rows in one group", 11, {4, 2, 3}, {0, 0, 11, 0}},
      {"blocks that end inside a group", 23, {3, 3, 2}, {1, 19, 3}},
      {"sizes beyond the rows", 5, {3, 2, 2}, {2, 9, 4}},
      {"a negative size", 5, {3, 2, 2}, {2, -3, 3}},
      {"one group", 6, {1, 2, 4}, {6}},
      {"large blocks", 300, {2, 2, 3}, {171, 129}},
  };
  for (const Row& row : rows) {
    const int64_t groups = row.w[0], n = row.w[1], k = row.w[2], r = row.rows;
    auto with_sizes = [=](const std::vector<Numbers>& in) {
      return std::vector<Numbers>{in[0], in[1], row.sizes.empty() ? in[2] : row.sizes};
    };
    for (const bool transposed : {false, true}) {
      const int64_t from = transposed ? n : k, to = transposed ? k : n;
      all.push_back(
          {"grouped_matmul",
           fmt::format("{}{}", row.name, transposed ? ", transposed" : ""),
           {f64({r, from}), f64(row.w), s32({groups})},
           [=](Graph& g, const Values& in) {
             return grouped_matmul(in[0], in[1], sizes_of(g, in[2], row.sizes), transposed);
           },
           Domain::kNormal,
           [=](const std::vector<Numbers>& in) {
             return product(with_sizes(in), static_cast<size_t>(r), static_cast<size_t>(from),
                            static_cast<size_t>(to), transposed);
           }});
    }
    all.push_back({"grouped_outer",
                   row.name,
                   {f64({r, n}), f64({r, k}), s32({groups})},
                   [=](Graph& g, const Values& in) {
                     return grouped_outer(in[0], in[1], sizes_of(g, in[2], row.sizes));
                   },
                   Domain::kNormal,
                   [=](const std::vector<Numbers>& in) {
                     return outer(with_sizes(in), static_cast<size_t>(r), static_cast<size_t>(n),
                                  static_cast<size_t>(k));
                   }});
  }
}

}  // namespace hone
