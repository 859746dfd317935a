#include "ckpt/shard_index.h"

#include "base/error.h"
#include "base/mmap.h"
#include "base/quote.h"
#include "ckpt/json_events.h"

namespace hone::ckpt {
namespace {

constexpr size_t kLongestIndex = 100'000'000;
constexpr size_t kMostTensors = 1 << 20;

// {"metadata": anything, "weight_map": {tensor: file}}
class Index : public JsonEvents {
 public:
  Index(std::string file, std::string_view text) : JsonEvents(std::move(file)) {
    parse(text);
    if (shards.empty()) throw FileError("{} names no tensor in its weight_map", what());
  }

  std::map<std::string, std::string> shards;

 private:
  bool key(std::string& name) override {
    if (depth_ == 1) {
      in_map_ = name == "weight_map";
      if (in_map_ && std::exchange(has_map_, true))
        throw FileError("{} holds weight_map twice", what());
    } else if (in_map_ && shards.contains(name)) {
      throw FileError("{} places the tensor {} twice", what(), quote(name));
    }
    key_ = std::move(name);
    return true;
  }

  bool string(std::string& text) override {
    if (depth_ == 0 || (in_map_ && depth_ != 2)) unexpected("a string");
    if (!in_map_) return true;
    if (text.empty() || text.starts_with('.') || text.find('/') != std::string::npos ||
        text.find('\0') != std::string::npos)
      throw FileError("{} places {} in {}, which is no plain file name", what(), place(),
                      quote(text));
    if (shards.size() == kMostTensors)
      throw FileError("{} names more than {} tensors", what(), kMostTensors);
    shards.emplace(key_, std::move(text));
    return true;
  }

  bool start_object(size_t) override {
    if (in_map_ && depth_ != 1) unexpected("{");
    ++depth_;
    return true;
  }
  bool end_object() override {
    --depth_;
    return true;
  }
  bool start_array(size_t) override { return start("["); }
  bool end_array() override { return end_object(); }
  bool null() override { return scalar("null"); }
  bool boolean(bool) override { return scalar("true or false"); }
  bool number_integer(int64_t) override { return scalar("a number"); }
  bool number_unsigned(uint64_t) override { return scalar("a number"); }
  bool number_float(double, const std::string&) override { return scalar("a number"); }

  bool start(std::string_view event) {
    if (in_map_ || depth_ == 0) unexpected(event);
    ++depth_;
    return true;
  }
  bool scalar(std::string_view event) {
    if (in_map_ || depth_ == 0) unexpected(event);
    return true;
  }

  std::string place() const override { return quote(key_); }

  int64_t depth_ = 0;
  bool in_map_ = false;  // at depth 1: the value of weight_map comes next
  bool has_map_ = false;
  std::string key_;
};

}  // namespace

std::map<std::string, std::string> parse_shard_index(std::string_view text, std::string name) {
  if (text.size() > kLongestIndex)
    throw FileError("{} has {} bytes; an index has at most {}", name, text.size(), kLongestIndex);
  return std::move(Index(std::move(name), text).shards);
}

std::map<std::string, std::string> read_shard_index(const std::filesystem::path& path) {
  const Mmap map(path);
  const auto* begin = reinterpret_cast<const char*>(map.bytes().data());
  return parse_shard_index({begin, map.bytes().size()}, path.string());
}

}  // namespace hone::ckpt
