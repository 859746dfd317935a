// Strict JSON: bytes to nlohmann::json within limits, and a reader that leaves no key unread.
//
//   const nlohmann::json json = read_json(folder / "config.json");
//   ConfigReader reader("config.json", json);
//   reader.need("hidden_size", c.hidden, at_least(1))
//       .want("rope_theta", c.theta)
//       .expect("hidden_act", "silu")
//       .ignore("initializer_range", "training from scratch only")
//       .done();
//
// Every complaint is a ConfigError that names the file, the key and what was found. A file that
// cannot be opened is a FileError.
#pragma once

#include <cstdint>
#include <exception>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/rule.h"

namespace hone {

struct JsonLimits {
  size_t bytes = size_t{64} << 20;
  int depth = 64;
};

// RFC 8259, and beyond it: duplicate keys, NaN, numbers beyond a double, comments and text after
// the value are errors. `file` only names the source.
nlohmann::json parse_json(std::string_view text, std::string_view file,
                          const JsonLimits& limits = {});
// The same with keys in the order of the text, and at most 1,000 of them an object: finding one
// takes a walk.
nlohmann::ordered_json parse_ordered_json(std::string_view text, std::string_view file,
                                          const JsonLimits& limits = {});
nlohmann::json read_json(const std::filesystem::path& file, const JsonLimits& limits = {});

// Reads the keys of one JSON object. null counts as absent. The object must outlive the reader,
// and each reader must end in done(), so that no key is lost in silence.
class ConfigReader {
 public:
  // `reader` says who does not know a key: "this family".
  ConfigReader(std::string file, const nlohmann::json& object, std::string reader = "this family");
  ConfigReader(ConfigReader&&) noexcept;
  ConfigReader& operator=(ConfigReader&&) = delete;
  ~ConfigReader();

  // Integers must be written without a point and fit; a bare value is a list of one, as
  // eos_token_id is in the wild; the rule holds for numbers, texts and each item of a list.
  template <class T>
  ConfigReader& need(std::string_view key, T& out, const Rule& rule = {}) {
    return present(key).read_into(key, &out, rule);
  }
  template <class T>
  ConfigReader& want(std::string_view key, T& out, const Rule& rule = {}) {  // absent: out stays
    return read_into(key, &out, rule);
  }

  // The key may say this or be absent: anything else asks for what we do not compute.
  ConfigReader& expect(std::string_view key, const char* value);
  ConfigReader& expect(std::string_view key, bool value);
  ConfigReader& expect(std::string_view key, int value);
  ConfigReader& expect(std::string_view key, double value);

  ConfigReader& ignore(std::string_view key, std::string_view reason);
  std::optional<ConfigReader> object(std::string_view key);  // nothing when absent
  bool has(std::string_view key) const;
  const std::string& file() const { return file_; }

  void done();

 private:
  using Slot =
      std::variant<bool*, int64_t*, double*, std::string*,  //
                   std::optional<int64_t>*, std::optional<double>*, std::optional<std::string>*,
                   std::vector<int64_t>*, std::vector<double>*, std::vector<std::string>*>;

  ConfigReader& read_into(std::string_view key, Slot out, const Rule& rule);
  ConfigReader& present(std::string_view key);
  const nlohmann::json* find(std::string_view key);  // marks the key as known
  std::string place(std::string_view key) const;     // `config.json: "rope_scaling.factor"`
  ConfigReader& expect_json(std::string_view key, const nlohmann::json& value);

  std::string file_, path_, reader_;
  const nlohmann::json* object_;
  std::set<std::string, std::less<>> known_;
  int unwinding_ = std::uncaught_exceptions();
  bool done_ = false;
};

}  // namespace hone
