#include "ckpt/shard_index.h"
#include "fuzz/fuzz.h"

namespace hone {
namespace {

void look_at_everything(const std::map<std::string, std::string>& shards) {
  if (shards.empty()) std::abort();
  for (const auto& [tensor, shard] : shards)
    if (shard.empty() || shard.starts_with('.') ||
        shard.find_first_of(std::string_view("/\0", 2)) != shard.npos)
      std::abort();
}

}  // namespace

const fuzz::Format& fuzz::format() {
  static const Format format{
      {R"({"metadata":{"total_size":72,"x":[1,{"y":null}]},"weight_map":{"a":"m-1.safetensors","b":"m-2.safetensors"}})",
       R"({"weight_map":{"a":"s"}})"},
      {"\"weight_map\":", "\"metadata\":", "\"..\"", "\"/x\"", "\\u0000", "\\u002f", "{", "}", "[",
       "]", ",", "null", "\"a\":\"s\","}};
  return format;
}

bool fuzz::run(std::span<const std::byte> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return accepts([&] { look_at_everything(ckpt::parse_shard_index(text, "x.index.json")); });
}

}  // namespace hone
