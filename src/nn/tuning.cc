#include "nn/tuning.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "nn/module_names.h"

namespace hone::nn {
namespace {

std::vector<std::string_view> split(std::string_view path) {
  std::vector<std::string_view> parts;
  for (size_t dot; (dot = path.find('.')) != std::string_view::npos; path.remove_prefix(dot + 1))
    parts.push_back(path.substr(0, dot));
  parts.push_back(path);
  return parts;
}

std::optional<int64_t> number(std::string_view text) {
  int64_t n = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (failed != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return n;
}

std::optional<int64_t> layer_of(std::string_view path, const std::vector<std::string>& lists) {
  const auto parts = split(path);
  for (size_t i = 1; i + 1 < parts.size(); ++i) {
    const bool listed = lists.empty() || std::ranges::find(lists, parts[i - 1]) != lists.end();
    if (const auto n = number(parts[i]); n && listed) return n;
  }
  return std::nullopt;
}

}  // namespace

bool is_head(std::string_view path) { return names_module("lm_head", path); }

std::optional<Lora::At> Lora::at(std::string_view path) const {
  auto names = [&](const std::string& t) {
    return t == "all-linear" ? !is_head(path) : names_module(t, path);
  };
  if (!std::ranges::any_of(targets, names) || std::ranges::any_of(exclude, names))
    return std::nullopt;
  if (!layers.empty()) {
    const auto layer = layer_of(path, layer_lists);
    if (!layer || std::ranges::find(layers, *layer) == layers.end()) return std::nullopt;
  }
  return sizes_at(path);
}

std::optional<Lora::At> Lora::at_parameter(std::string_view path) const {
  auto names = [&](const std::string& p) { return names_module(p, path); };
  if (std::ranges::none_of(parameters, names)) return std::nullopt;
  return sizes_at(path);
}

Lora::At Lora::sizes_at(std::string_view path) const {
  std::optional<int64_t> own_rank;
  std::optional<double> own_alpha;
  for (const Other& o : others) {
    if (!names_module(o.match, path)) continue;
    if (!own_rank) own_rank = o.rank;
    if (!own_alpha) own_alpha = o.alpha;
  }
  const int64_t r = own_rank.value_or(rank);
  const double a = own_alpha.value_or(alpha), real = static_cast<double>(r);
  return {r, a, a / (rank_stabilised ? std::sqrt(real) : real)};
}

bool Tuning::trains(std::string_view path) const {
  auto holds = [&](const std::string& name) {
    if (name == "all") return true;
    for (size_t end = path.size(); end != std::string_view::npos; end = path.rfind('.', end - 1)) {
      if (names_module(name, path.substr(0, end))) return true;
      if (end == 0) break;
    }
    return false;
  };
  return std::ranges::any_of(whole, holds);
}

std::optional<Lora::At> Tuning::adapter_at(std::string_view path) const {
  return lora && !trains(path) ? lora->at(path) : std::nullopt;
}

std::optional<Lora::At> Tuning::adapter_at_parameter(std::string_view path) const {
  return lora && !trains(path) ? lora->at_parameter(path) : std::nullopt;
}

}  // namespace hone::nn
