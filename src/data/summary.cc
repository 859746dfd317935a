#include "data/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "data/order.h"

namespace hone::data {
namespace {

// 1234567 -> "1,234,567"
std::string grouped(int64_t n) {
  std::string digits = std::to_string(n);
  for (auto at = static_cast<int64_t>(digits.size()) - 3; at > 0; at -= 3)
    digits.insert(static_cast<size_t>(at), ",");
  return digits;
}

Filling filling(const SampleSet& set, int64_t rows, int64_t tokens) {
  const double places = static_cast<double>(rows) * static_cast<double>(set.shape.seq_len);
  return {rows, static_cast<double>(tokens) / places};
}

}  // namespace

std::string summary(const SampleSet& set) {
  const Counts& c = set.counts;
  const auto seq_len = set.shape.seq_len;
  std::string line =
      fmt::format("{} {}, {} tokens, {} learnt", grouped(c.kept),
                  set.options.pairs ? "pairs" : "examples", grouped(c.tokens), grouped(c.targets));
  const auto add = [&](int64_t count, std::string_view what) {
    if (count > 0) line += fmt::format("; {}", fmt::format(fmt::runtime(what), count, seq_len));
  };
  add(c.too_long, "dropped {} longer than seq_len {}");
  add(c.truncated, "truncated {} to seq_len {}");
  add(c.split, "split {} longer than seq_len {}");
  add(c.no_target, "dropped {} with nothing to learn");
  return line;
}

std::vector<std::string> warnings(const SampleSet& set) {
  std::vector<std::string> lines;
  if (const auto n = set.size(), ends = set.counts.ends; ends < n)
    lines.push_back(fmt::format("only {:.1f}% of the samples teach the end of a turn",
                                100.0 * static_cast<double>(ends) / static_cast<double>(n)));
  std::map<std::string, int64_t> columns;
  for (const Source& source : set.samples.sources())
    if (const auto unused = source.store->notes().find("unused");
        unused != source.store->notes().end())
      for (const auto& [column, rows] : unused->items()) columns[column] += rows.get<int64_t>();
  std::string names;
  for (const auto& [column, rows] : columns)
    names += fmt::format("{}{} ({} rows)", names.empty() ? "" : ", ", column, rows);
  if (!names.empty()) lines.push_back("columns that are not read: " + names);
  return lines;
}

std::vector<LengthBin> length_histogram(const SampleSet& set) {
  std::vector<LengthBin> bins;
  for (int64_t upto = 32; upto < set.shape.seq_len; upto *= 2) bins.push_back({upto, 0});
  bins.push_back({set.shape.seq_len, 0});
  for (int64_t i = 0; i < set.size(); ++i)
    ++std::ranges::lower_bound(bins, set.samples.length(i), {}, &LengthBin::upto)->samples;
  return bins;
}

Filling unpacked_filling(const SampleSet& set) {
  return filling(set, set.size(), set.counts.tokens);
}

Filling packed_filling(const SampleSet& set, uint64_t seed) {
  SampleSet packed = set;
  packed.options.packing = true;
  const Rows rows = epoch_rows(packed, seed, 0);
  int64_t tokens = 0;
  for (int64_t r = 0; r < rows.size(); ++r)
    for (const uint32_t i : rows[r]) tokens += set.samples.length(i);
  return filling(set, rows.size(), tokens);
}

}  // namespace hone::data
