// A command's options: one struct with one fields(v) member (base/fields.h) gives the parsing of
// its command line and its help.
//
//   struct Options {
//     std::string model;
//     std::vector<std::string> overrides;
//     int64_t max_tokens = 64;
//     bool chat = false;
//
//     void fields(auto& v) {
//       v.argument("model", model, "a folder, a .gguf file or a name of models.yaml");
//       v.argument("key=value", overrides, "changes to the recipe");
//       v("max_tokens", max_tokens, "most tokens to write", at_least(1));
//       v("chat", chat, "talk in turns");
//     }
//   };
//
// `--max-tokens 64`, `--max_tokens=64` and `--chat` set fields; - and _ are the same letter. What
// begins with no - is an argument, and so is everything after `--`. An argument that is a vector
// takes all that are left, one that is a std::optional may be missing. An option that is a vector
// of numbers reads `1,2,3`, one of strings may be given again. v.needed() is an option that must
// be given.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/fields.h"

namespace hone::cli {

struct Option {
  std::string name;   // "max-tokens"; of an argument "MODEL"
  std::string value;  // what --name takes: "N", "X", "TEXT"; "" for a flag
  std::string fallback, rule, help;
  bool argument = false;
  bool needed = false;
  bool many = false;  // may be given again
  bool given = false;
  std::function<void(const std::string& text)> set;  // throws ConfigError
};

namespace detail {

template <class T>
constexpr bool is_optional = false;
template <class T>
constexpr bool is_optional<std::optional<T>> = true;
template <class T>
constexpr bool is_list = false;
template <class T>
constexpr bool is_list<std::vector<T>> = true;

inline std::string value_name(bool) { return ""; }
inline std::string value_name(int64_t) { return "N"; }
inline std::string value_name(double) { return "X"; }
inline std::string value_name(const std::string&) { return "TEXT"; }
template <class T>
std::string value_name(const std::optional<T>&) {
  return value_name(T{});
}
template <class T>
std::string value_name(const std::vector<T>&) {
  return value_name(T{}) + (std::is_arithmetic_v<T> ? ",..." : "");
}

std::vector<std::string> split_commas(const std::string& text);

template <class T>
void set_text(const std::string& text, const std::string& label, T& value, const Rule& rule) {
  read_value(yaml_scalar(text, ""), label, value, rule);
}

template <class T>
void set_text(const std::string& text, const std::string& label, std::vector<T>& value,
              const Rule& rule) {
  const bool numbers = std::is_arithmetic_v<T>;
  for (const std::string& one : numbers ? split_commas(text) : std::vector{text})
    set_text(one, label, value.emplace_back(), rule);
}

std::string option_name(std::string_view field);    // "max_tokens" -> "max-tokens"
std::string argument_name(std::string_view field);  // "model" -> "MODEL"

}  // namespace detail

// Collects the options of a struct, each bound to its field.
class OptionLister {
 public:
  template <class T>
  void operator()(std::string_view name, T& value, std::string_view help, const Rule& rule = {}) {
    add(detail::option_name(name), fmt::format("--{}", detail::option_name(name)), value, help,
        rule);
  }
  template <class T>
  void needed(std::string_view name, T& value, std::string_view help, const Rule& rule = {}) {
    (*this)(name, value, help, rule);
    list_.back().needed = true;
  }
  template <class T>
  void argument(std::string_view name, T& value, std::string_view help, const Rule& rule = {}) {
    add(detail::argument_name(name), detail::argument_name(name), value, help, rule);
    list_.back().argument = true;
    list_.back().needed = !detail::is_list<T> && !detail::is_optional<T>;
  }
  std::vector<Option> take() { return std::move(list_); }

 private:
  template <class T>
  void add(std::string name, std::string label, T& value, std::string_view help, const Rule& rule) {
    const Yaml shown = to_yaml(value);
    Option o;
    o.name = std::move(name);
    o.value = detail::value_name(value);
    o.fallback = shown.text.empty() || shown.text == "false" ? "" : shown.text;
    o.rule = rule.text();
    o.help = help;
    o.many = detail::is_list<T>;
    o.set = [&value, rule, label = std::move(label)](const std::string& text) {
      detail::set_text(text, label, value, rule);
    };
    list_.push_back(std::move(o));
  }

  std::vector<Option> list_;
};

template <class Options>
std::vector<Option> options_of(Options& options) {
  OptionLister lister;
  options.fields(lister);
  return lister.take();
}

// Sets the fields; throws UsageError of one line. False when --help or -h was met.
bool parse_options(std::vector<Option> options, std::span<const std::string> args);

// " MODEL [KEY=VALUE ...] [options]" and the lines below it.
std::string usage(const std::vector<Option>& options);
std::string option_lines(const std::vector<Option>& options);

}  // namespace hone::cli
