#include "nn/module_names.h"

#include <re2/re2.h>

#include <algorithm>

#include "base/error.h"

namespace hone::nn {
namespace {

bool ends_path(std::string_view name, std::string_view path) {
  if (!path.ends_with(name)) return false;
  return path.size() == name.size() || path[path.size() - name.size() - 1] == '.';
}

}  // namespace

bool is_expression(std::string_view name) {
  return !std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '-';
  });
}

std::string as_expression(std::string_view expression) { return fmt::format("(?:{})", expression); }

std::string as_end(std::string_view end) {
  if (!is_expression(end)) return std::string(end);
  return fmt::format("(?:.*\\.)?{}", RE2::QuoteMeta(re2::StringPiece(end.data(), end.size())));
}

bool names_module(const std::string& name, std::string_view path) {
  if (!is_expression(name)) return ends_path(name, path);
  RE2::Options quiet;
  quiet.set_log_errors(false);
  const RE2 expression(name, quiet);
  if (!expression.ok())
    throw ConfigError("\"{}\" is no regular expression that can be matched: {}", name,
                      expression.error());
  return RE2::FullMatch(re2::StringPiece(path.data(), path.size()), expression);
}

}  // namespace hone::nn
