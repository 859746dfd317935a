// One struct, one `fields(v)` member, and everything a command or a recipe needs from it.
//
//   struct Adapter {
//     std::string kind = "lora";
//     int64_t rank = 16;
//
//     void fields(auto& v) {
//       v("kind", kind, "how the model is adapted", one_of("lora", "none"));
//       v("rank", rank, "rank of the two added matrices", between(1, 4096));
//     }
//     bool operator==(const Adapter&) const = default;
//   };
//
//   read_fields(parse_yaml(text, "a.yaml"), adapter);  // ConfigError: unknown keys, types, rules
//   set_field(adapter, "rank=8");                      // an override, as on a command line
//   yaml_text(to_yaml(adapter));                       // the resolved values; reads back equal
//   describe(adapter);                                 // each field's name, default, rule, help
//
// A field is a bool, int64_t, double, std::string, a struct with fields, or a std::optional,
// std::vector, std::array or OrAuto of these. Reading touches only the fields that are written,
// so an override is a reading of one more, small document. A list is replaced as a whole; one
// bare value is a list of one. An optional field must be empty by default, because an empty one
// is not written (v.either() is the exception).
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/rule.h"
#include "base/yaml.h"

namespace hone {

// Takes every call a fields() member can make and does nothing.
struct NoVisitor {
  template <class... Args>
  void operator()(Args&&...) {}
  template <class... Args>
  void argument(Args&&...) {}
  template <class... Args>
  void either(Args&&...) {}
};

template <class T>
concept Fields = requires(T& t, NoVisitor& v) { t.fields(v); };

// A struct that can also be written as one word: `train: chats.jsonl`.
template <class T>
concept Shorthand = requires(T& t) {
  { t.shorthand() } -> std::same_as<std::string&>;
};

// A struct, or the word auto: somebody else decides.
template <Fields T>
struct OrAuto {
  std::optional<T> value;
  bool operator==(const OrAuto&) const = default;
};

// --- reading -----------------------------------------------------------------------------------

// "a.yaml:3: adapter.rank: expected an integer, found "x"".
[[noreturn]] void refuse(const Yaml& y, std::string_view path, std::string_view problem);
[[noreturn]] void refuse_key(const Yaml& map, const std::string& key, const std::string& path,
                             std::span<const std::string_view> known);
const Yaml& expect_map(const Yaml& y, std::string_view path);

void read_value(const Yaml& y, const std::string& path, bool& out, const Rule& rule);
void read_value(const Yaml& y, const std::string& path, int64_t& out, const Rule& rule);
void read_value(const Yaml& y, const std::string& path, double& out, const Rule& rule);
void read_value(const Yaml& y, const std::string& path, std::string& out, const Rule& rule);

template <Fields T>
void read_value(const Yaml& y, const std::string& path, T& out, const Rule& rule);

template <Fields T>
void read_value(const Yaml& y, const std::string& path, OrAuto<T>& out, const Rule& rule) {
  if (y.kind == Yaml::Kind::kScalar && y.text == "auto") {
    out.value.reset();
  } else {
    if (!out.value) out.value.emplace();
    read_value(y, path, *out.value, rule);
  }
}

template <class T>
void read_value(const Yaml& y, const std::string& path, std::optional<T>& out, const Rule& rule) {
  if (y.kind == Yaml::Kind::kNull)
    out.reset();
  else
    read_value(y, path, out.emplace(), rule);
}

template <class T>
void read_value(const Yaml& y, const std::string& path, std::vector<T>& out, const Rule& rule) {
  const bool list = y.kind == Yaml::Kind::kList;
  const size_t count = list ? y.items.size() : 1;
  std::vector<T> items(count);
  for (size_t i = 0; i < count; ++i)
    read_value(list ? y.items[i] : y, list ? fmt::format("{}[{}]", path, i) : path, items[i], rule);
  out = std::move(items);
}

template <class T, size_t N>
void read_value(const Yaml& y, const std::string& path, std::array<T, N>& out, const Rule& rule) {
  if (y.kind != Yaml::Kind::kList || y.items.size() != N)
    refuse(y, path, fmt::format("expected a list of {}, found {}", N, y.shown()));
  for (size_t i = 0; i < N; ++i)
    read_value(y.items[i], fmt::format("{}[{}]", path, i), out[i], rule);
}

class FieldReader {
 public:
  FieldReader(const Yaml& map, std::string path) : map_(map), path_(std::move(path)) {}

  template <class T>
  void operator()(std::string_view name, T& value, std::string_view, const Rule& rule = {}) {
    known_.push_back(name);
    if (const Yaml* y = map_.find(name)) read_value(*y, at(name), value, rule);
  }

  // Two optional fields, visited before, of which one holds: giving one takes the other back.
  template <class A, class B>
  void either(std::string_view a, std::optional<A>& a_value, std::string_view b,
              std::optional<B>& b_value) {
    const bool has_a = map_.find(a) != nullptr, has_b = map_.find(b) != nullptr;
    if (has_a && has_b) refuse(map_, at(b), fmt::format("give {} or {}, not both", a, b));
    if (has_a) b_value.reset();
    if (has_b) a_value.reset();
  }

  void done() const {
    for (const std::string& key : map_.keys)
      if (std::ranges::find(known_, key) == known_.end()) refuse_key(map_, key, path_, known_);
  }

 private:
  std::string at(std::string_view name) const {
    return path_.empty() ? std::string(name) : fmt::format("{}.{}", path_, name);
  }

  const Yaml& map_;
  std::string path_;
  std::vector<std::string_view> known_;
};

template <Fields T>
void read_value(const Yaml& y, const std::string& path, T& out, const Rule& rule) {
  if constexpr (Shorthand<T>)
    if (y.kind == Yaml::Kind::kScalar) return read_value(y, path, out.shorthand(), rule);
  FieldReader reader(expect_map(y, path), path);
  out.fields(reader);
  reader.done();
}

// An empty document changes nothing.
template <Fields T>
void read_fields(const Yaml& document, T& out) {
  if (document.kind != Yaml::Kind::kNull) read_value(document, "", out, {});
}

// "adapter.rank=8" as the document {adapter: {rank: 8}}.
Yaml override_document(std::string_view text);

template <Fields T>
void set_field(T& out, std::string_view text) {
  read_fields(override_document(text), out);
}

// --- writing -----------------------------------------------------------------------------------

Yaml to_yaml(bool value);
Yaml to_yaml(int64_t value);
Yaml to_yaml(double value);
Yaml to_yaml(const std::string& value);

template <Fields T>
Yaml to_yaml(T value);  // by value: fields() lends its members to any visitor, so it is not const
template <Fields T>
Yaml to_yaml(const OrAuto<T>& choice);
template <class T>
Yaml to_yaml(const std::optional<T>& value);
template <class T>
Yaml to_yaml(const std::vector<T>& list);
template <class T, size_t N>
Yaml to_yaml(const std::array<T, N>& list);

class FieldWriter {
 public:
  template <class T>
  void operator()(std::string_view name, const T& value, std::string_view, const Rule& = {}) {
    Yaml y = to_yaml(value);
    if (y.kind != Yaml::Kind::kNull) map_.put(std::string(name), std::move(y));
  }
  void either(auto&&...) {}
  Yaml take() { return std::move(map_); }

 private:
  Yaml map_{.kind = Yaml::Kind::kMap};
};

template <Fields T>
Yaml to_yaml(T value) {
  FieldWriter writer;
  value.fields(writer);
  return writer.take();
}

template <Fields T>
Yaml to_yaml(const OrAuto<T>& choice) {
  return choice.value ? to_yaml(*choice.value) : to_yaml(std::string("auto"));
}

template <class T>
Yaml to_yaml(const std::optional<T>& value) {
  return value ? to_yaml(*value) : Yaml{};
}

Yaml yaml_list(std::vector<Yaml> items);

template <class T>
Yaml to_yaml(const std::vector<T>& list) {
  std::vector<Yaml> items;
  for (const T& item : list) items.push_back(to_yaml(item));
  return yaml_list(std::move(items));
}

template <class T, size_t N>
Yaml to_yaml(const std::array<T, N>& list) {
  return to_yaml(std::vector<T>(list.begin(), list.end()));
}

// --- describing --------------------------------------------------------------------------------

struct FieldInfo {
  std::string path;   // "data.train[].path"
  std::string value;  // the default as YAML; "" for a struct, whose fields follow
  std::string rule;   // "at least 1", "lora | none", ""
  std::string help;
};

class FieldLister {
 public:
  explicit FieldLister(std::string prefix = "") : prefix_(std::move(prefix)) {}

  template <class T>
  void operator()(std::string_view name, const T& value, std::string_view help,
                  const Rule& rule = {}) {
    const std::string path = prefix_ + std::string(name);
    const std::string shown = Fields<T> ? "" : yaml_flow(to_yaml(value));
    list_.push_back({path, shown, rule.text(), std::string(help)});
    inside(path + ".", value);
  }
  void either(auto&&...) {}
  std::vector<FieldInfo> take() { return std::move(list_); }

 private:
  void inside(const std::string&, const auto&) {}
  template <Fields T>
  void inside(const std::string& prefix, const T& value) {
    FieldLister lister(prefix);
    T copy = value;
    copy.fields(lister);
    for (FieldInfo& field : lister.list_) list_.push_back(std::move(field));
  }
  template <Fields T>
  void inside(const std::string& prefix, const OrAuto<T>&) {
    inside(prefix, T{});
  }
  template <Fields T>
  void inside(const std::string& prefix, const std::vector<T>&) {
    inside(prefix.substr(0, prefix.size() - 1) + "[].", T{});
  }

  std::string prefix_;
  std::vector<FieldInfo> list_;
};

template <Fields T>
std::vector<FieldInfo> describe(T defaults) {
  FieldLister lister;
  defaults.fields(lister);
  return lister.take();
}

}  // namespace hone
