#include "base/json.h"

#include <nlohmann/json.hpp>
#include <type_traits>
#include <utility>

#include "base/check.h"
#include "base/error.h"
#include "base/mmap.h"
#include "base/quote.h"

namespace hone {
namespace {

using Json = nlohmann::json;

// "[json.exception.parse_error.101] parse error at line 1, column 5: ..." without its tag.
std::string without_tag(std::string_view what) {
  const size_t end = what.find("] ");
  std::string text = quote(end == std::string_view::npos ? what : what.substr(end + 2), 300);
  return text.substr(1, text.size() - 2);
}

constexpr size_t kOrderedKeys = 1000;

// Builds the value from the parser's events, so that depth and duplicates are seen as they come.
template <class Json>
class Builder : public nlohmann::json_sax<Json> {
 public:
  // NOLINTBEGIN(readability-identifier-naming): the interface's names
  using number_integer_t = typename Json::number_integer_t;
  using number_unsigned_t = typename Json::number_unsigned_t;
  using number_float_t = typename Json::number_float_t;
  using string_t = typename Json::string_t;
  using binary_t = typename Json::binary_t;
  // NOLINTEND(readability-identifier-naming)

  Builder(std::string_view file, int depth) : file_(file), depth_(depth) {}
  Json take() { return std::move(root_); }

  bool null() override { return put(nullptr); }
  bool boolean(bool v) override { return put(v); }
  bool number_integer(number_integer_t v) override { return put(v); }
  bool number_unsigned(number_unsigned_t v) override { return put(v); }
  bool number_float(number_float_t v, const string_t&) override { return put(v); }
  bool string(string_t& v) override { return put(std::move(v)); }
  bool binary(binary_t&) override { return false; }
  bool start_object(size_t) override { return open(Json::object()); }
  bool start_array(size_t) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t& v) override {
    if constexpr (std::is_same_v<Json, nlohmann::ordered_json>)
      if (open_.back()->size() == kOrderedKeys)
        throw ConfigError("{}: an object of more than {} keys", file_, kOrderedKeys);
    if (open_.back()->contains(v)) throw ConfigError("{}: key {} appears twice", file_, quote(v));
    key_ = std::move(v);
    return true;
  }
  bool parse_error(size_t, const std::string&, const nlohmann::detail::exception& e) override {
    throw ConfigError("{} is not JSON: {}", file_, without_tag(e.what()));
  }

 private:
  Json& place(Json v) {
    if (open_.empty()) return root_ = std::move(v);
    Json& parent = *open_.back();
    if (parent.is_object()) return parent[key_] = std::move(v);
    return parent.emplace_back(std::move(v));
  }
  bool put(Json v) {
    place(std::move(v));
    return true;
  }
  bool open(Json v) {
    if (static_cast<int>(open_.size()) >= depth_)
      throw ConfigError("{}: nested deeper than {} levels", file_, depth_);
    open_.push_back(&place(std::move(v)));  // a parent's items do not move while a child is open
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  std::string_view file_;
  int depth_;
  Json root_;
  std::string key_;
  std::vector<Json*> open_;
};

template <class Json>
Json parse(std::string_view text, std::string_view file, const JsonLimits& limits) {
  if (text.size() > limits.bytes)
    throw ConfigError("{}: {} bytes of JSON, more than the {} allowed", file, text.size(),
                      limits.bytes);
  Builder<Json> builder(file, limits.depth);
  Json::sax_parse(text.begin(), text.end(), &builder);
  return builder.take();
}

std::string shown(const Json& v) {
  if (v.is_object()) return "an object";
  if (v.is_array()) return "a list";
  if (v.is_string()) return quote(v.get_ref<const std::string&>());
  return v.dump();
}

// Each read() gives what is wrong, or "".
std::string expected(std::string_view what, const Json& v) {
  return fmt::format("expected {}, found {}", what, shown(v));
}

std::string read(const Json& v, bool& out, const Rule&) {
  if (!v.is_boolean()) return expected("true or false", v);
  out = v.get<bool>();
  return "";
}

std::string read(const Json& v, int64_t& out, const Rule& rule) {
  if (!v.is_number_integer()) return expected("an integer", v);
  if (v.is_number_unsigned() && v.get<uint64_t>() > uint64_t{INT64_MAX})
    return expected("an integer of 64 bits", v);
  out = v.get<int64_t>();
  return rule.problem(static_cast<double>(out));
}

std::string read(const Json& v, double& out, const Rule& rule) {
  if (!v.is_number()) return expected("a number", v);
  out = v.get<double>();
  return rule.problem(out);
}

std::string read(const Json& v, std::string& out, const Rule& rule) {
  if (!v.is_string()) return expected("text", v);
  out = v.get<std::string>();
  return rule.problem(out);
}

template <class T>
std::string read(const Json& v, std::vector<T>& out, const Rule& rule) {
  const Json one = v.is_array() ? Json() : Json::array({v});
  std::vector<T> items;
  for (const Json& item : v.is_array() ? v : one) {
    T value{};
    if (std::string problem = read(item, value, rule); !problem.empty()) return problem;
    items.push_back(std::move(value));
  }
  out = std::move(items);
  return "";
}

template <class T>
std::string read(const Json& v, std::optional<T>& out, const Rule& rule) {
  return read(v, out.emplace(), rule);
}

}  // namespace

Json parse_json(std::string_view text, std::string_view file, const JsonLimits& limits) {
  return parse<Json>(text, file, limits);
}

nlohmann::ordered_json parse_ordered_json(std::string_view text, std::string_view file,
                                          const JsonLimits& limits) {
  return parse<nlohmann::ordered_json>(text, file, limits);
}

Json read_json(const std::filesystem::path& file, const JsonLimits& limits) {
  const Mmap map(file);
  const auto bytes = map.bytes();
  return parse_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, file.string(),
                    limits);
}

ConfigReader::ConfigReader(std::string file, const Json& object, std::string reader)
    : file_(std::move(file)), reader_(std::move(reader)), object_(&object) {
  if (!object.is_object()) throw ConfigError("{}: {}", file_, expected("an object", object));
}

ConfigReader::ConfigReader(ConfigReader&& other) noexcept
    : file_(std::move(other.file_)),
      path_(std::move(other.path_)),
      reader_(std::move(other.reader_)),
      object_(other.object_),
      known_(std::move(other.known_)),
      done_(std::exchange(other.done_, true)) {}

ConfigReader::~ConfigReader() {
  check(done_ || std::uncaught_exceptions() > unwinding_,
        "{}: the reader was dropped before done()", file_);
}

const Json* ConfigReader::find(std::string_view key) {
  known_.emplace(key);
  const auto found = object_->find(key);
  return found == object_->end() || found->is_null() ? nullptr : &*found;
}

std::string ConfigReader::place(std::string_view key) const {
  return fmt::format("{}: \"{}{}\"", file_, path_, key);
}

bool ConfigReader::has(std::string_view key) const {
  const auto found = object_->find(key);
  return found != object_->end() && !found->is_null();
}

ConfigReader& ConfigReader::read_into(std::string_view key, Slot out, const Rule& rule) {
  const Json* v = find(key);
  if (v == nullptr) return *this;
  const std::string problem = std::visit([&](auto* to) { return read(*v, *to, rule); }, out);
  if (!problem.empty()) throw ConfigError("{}: {}", place(key), problem);
  return *this;
}

ConfigReader& ConfigReader::present(std::string_view key) {
  if (!has(key)) throw ConfigError("{} is missing", place(key));
  return *this;
}

ConfigReader& ConfigReader::expect_json(std::string_view key, const Json& value) {
  const Json* v = find(key);
  if (v == nullptr || *v == value) return *this;
  throw ConfigError("{}: {} knows only {}, found {}", place(key), reader_, shown(value), shown(*v));
}
ConfigReader& ConfigReader::expect(std::string_view key, const char* value) {
  return expect_json(key, value);
}
ConfigReader& ConfigReader::expect(std::string_view key, bool value) {
  return expect_json(key, value);
}
ConfigReader& ConfigReader::expect(std::string_view key, int value) {
  return expect_json(key, value);
}
ConfigReader& ConfigReader::expect(std::string_view key, double value) {
  return expect_json(key, value);
}

ConfigReader& ConfigReader::ignore(std::string_view key, std::string_view) {
  known_.emplace(key);
  return *this;
}

std::optional<ConfigReader> ConfigReader::object(std::string_view key) {
  const Json* v = find(key);
  if (v == nullptr) return std::nullopt;
  if (!v->is_object()) throw ConfigError("{}: {}", place(key), expected("an object", *v));
  ConfigReader child(file_, *v, reader_);
  child.path_ = fmt::format("{}{}.", path_, key);
  return child;
}

void ConfigReader::done() {
  done_ = true;
  std::string strange;
  for (const auto& [key, value] : object_->items())
    if (!known_.contains(key)) strange += (strange.empty() ? "" : ", ") + quote(path_ + key);
  if (!strange.empty())
    throw ConfigError("{} has keys {} does not know: {}", file_, reader_, strange);
}

}  // namespace hone
