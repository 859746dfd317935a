// Strict YAML: text to a small tree that remembers its lines, and the tree back to text.
//
// Read by yaml-cpp's event parser; anchors, aliases, tags, merge keys, duplicate keys, several
// documents, bytes that are no UTF-8 and anything beyond the limits are errors. A scalar stays the
// text that was written: what it means is decided by the field it is for (fields.h).
// Every complaint is a ConfigError that names source and line; a file that cannot be opened is a
// FileError.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace hone {

struct YamlLimits {
  size_t bytes = size_t{4} << 20;
  int depth = 64;
};

struct Yaml {
  enum class Kind { kNull, kScalar, kList, kMap };

  Kind kind = Kind::kNull;
  bool quoted = false;                 // a scalar in quotes, or a block of text: never a number
  std::string text = {};               // of a scalar
  std::vector<std::string> keys = {};  // of a map, in the order written
  std::vector<Yaml> items = {};        // of a list, or the values of a map
  int line = 0;                        // from 1; 0 when the text is one line
  std::shared_ptr<const std::string> source = {};

  const Yaml* find(std::string_view key) const;  // of a map; nullptr when absent
  void put(std::string key, Yaml value);         // appends to a map
  std::string where() const;                     // "recipes/a.yaml:12"
  std::string shown() const;                     // for messages: `"abc"`, "a list of 2", "nothing"
};

Yaml parse_yaml(std::string_view text, std::string source, const YamlLimits& limits = {});
Yaml read_yaml(const std::filesystem::path& file, const YamlLimits& limits = {});

// A scalar that was not parsed from YAML: the value of a command-line option.
Yaml yaml_scalar(std::string text, std::string source);

// Block style, and flow style `{a: 1, b: [2, 3]}` for what fits on a line. parse_yaml reads back
// an equal tree, lines aside.
std::string yaml_text(const Yaml& value);
std::string yaml_flow(const Yaml& value);

}  // namespace hone
