#include "base/fields.h"

#include <charconv>
#include <cmath>

#include "base/nearest.h"
#include "base/quote.h"

namespace hone {
namespace {

bool is_plain(const Yaml& y) { return y.kind == Yaml::Kind::kScalar && !y.quoted; }

// The whole of a plain scalar as a number; from_chars takes no "+".
template <class T>
std::errc parse_number(const Yaml& y, T& out) {
  std::string_view text = y.text;
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (!is_plain(y) || end != text.data() + text.size()) return std::errc::invalid_argument;
  return error;
}

[[noreturn]] void unexpected(const Yaml& y, std::string_view path, std::string_view what) {
  refuse(y, path, fmt::format("expected {}, found {}", what, y.shown()));
}

void obey(const Yaml& y, std::string_view path, const std::string& problem) {
  if (!problem.empty()) refuse(y, path, problem);
}

}  // namespace

void refuse(const Yaml& y, std::string_view path, std::string_view problem) {
  const std::string where = y.where();
  throw ConfigError("{}{}{}{}{}", where, where.empty() ? "" : ": ", path, path.empty() ? "" : ": ",
                    problem);
}

void refuse_key(const Yaml& map, const std::string& key, const std::string& path,
                std::span<const std::string_view> known) {
  std::string hint = did_you_mean(key, known);
  if (hint.empty()) hint = fmt::format("; known: {}", fmt::join(known, ", "));
  refuse(*map.find(key), path, fmt::format("unknown key {}{}", quote(key), hint));
}

const Yaml& expect_map(const Yaml& y, std::string_view path) {
  if (y.kind != Yaml::Kind::kMap) unexpected(y, path, "a map");
  return y;
}

void read_value(const Yaml& y, const std::string& path, bool& out, const Rule&) {
  if (!is_plain(y) || (y.text != "true" && y.text != "false")) unexpected(y, path, "true or false");
  out = y.text == "true";
}

void read_value(const Yaml& y, const std::string& path, int64_t& out, const Rule& rule) {
  const std::errc error = parse_number(y, out);
  if (error == std::errc::result_out_of_range) unexpected(y, path, "an integer of 64 bits");
  if (error != std::errc{}) unexpected(y, path, "an integer");
  obey(y, path, rule.problem(static_cast<double>(out)));
}

void read_value(const Yaml& y, const std::string& path, double& out, const Rule& rule) {
  if (parse_number(y, out) != std::errc{} || !std::isfinite(out)) unexpected(y, path, "a number");
  obey(y, path, rule.problem(out));
}

void read_value(const Yaml& y, const std::string& path, std::string& out, const Rule& rule) {
  if (y.kind != Yaml::Kind::kScalar) unexpected(y, path, "text");
  out = y.text;
  obey(y, path, rule.problem(out));
}

Yaml override_document(std::string_view text) {
  const size_t equals = text.find('=');
  const std::string_view path = text.substr(0, equals);
  const bool named = !path.empty() && !path.starts_with('.') && !path.ends_with('.');
  if (equals == std::string_view::npos || !named || path.contains(".."))
    throw ConfigError("override {}: expected key=value, as in adapter.rank=8", quote(text));
  Yaml value = parse_yaml(text.substr(equals + 1), fmt::format("override {}", quote(text)));
  // From the innermost key outwards.
  for (std::string_view left = path; !left.empty();) {
    const size_t dot = left.rfind('.');
    Yaml map{.source = value.source};
    map.put(std::string(left.substr(dot == std::string_view::npos ? 0 : dot + 1)),
            std::move(value));
    value = std::move(map);
    left = left.substr(0, dot == std::string_view::npos ? 0 : dot);
  }
  return value;
}

Yaml to_yaml(bool value) { return yaml_scalar(value ? "true" : "false", ""); }
Yaml to_yaml(int64_t value) { return yaml_scalar(std::to_string(value), ""); }
Yaml to_yaml(double value) { return yaml_scalar(shortest(value), ""); }

Yaml to_yaml(const std::string& value) {
  Yaml y = yaml_scalar(value, "");
  y.quoted = true;
  return y;
}

Yaml yaml_list(std::vector<Yaml> items) {
  Yaml list;
  list.kind = Yaml::Kind::kList;
  list.items = std::move(items);
  return list;
}

}  // namespace hone
