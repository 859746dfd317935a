// A JSON reader that accepts only what it was told to expect, and builds nothing on the way.
//
// Derive from JsonEvents and override the events that the format allows; each of the others is a
// FileError. The parser underneath keeps one bit a level, so depth costs nothing.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace hone::ckpt {

class JsonEvents : public nlohmann::json_sax<nlohmann::json> {
 public:
  // `what` names the text in messages: "x.safetensors: the header".
  explicit JsonEvents(std::string what) : what_(std::move(what)) {}

  void parse(std::string_view text);

  bool null() override { unexpected("null"); }
  bool boolean(bool) override { unexpected("true or false"); }
  bool number_integer(int64_t) override { unexpected("a negative number"); }
  bool number_unsigned(uint64_t) override { unexpected("a number"); }
  bool number_float(double, const std::string&) override { unexpected("a fraction"); }
  bool string(std::string&) override { unexpected("a string"); }
  bool binary(nlohmann::json::binary_t&) override { unexpected("binary data"); }
  bool start_object(size_t) override { unexpected("{"); }
  bool key(std::string&) override { unexpected("a key"); }
  bool end_object() override { unexpected("}"); }
  bool start_array(size_t) override { unexpected("["); }
  bool end_array() override { unexpected("]"); }
  bool parse_error(size_t position, const std::string&,
                   const nlohmann::detail::exception&) override;

 protected:
  const std::string& what() const { return what_; }
  // Where in the document we are, for messages: `tensor "a"`.
  virtual std::string place() const = 0;
  [[noreturn]] void unexpected(std::string_view event) const;

 private:
  std::string what_;
};

}  // namespace hone::ckpt
