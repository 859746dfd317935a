// model.safetensors.index.json: which shard of a folder holds which tensor.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

namespace hone::ckpt {

// The weight_map: tensor name to file name. Every file name is plain (no folder in it), no tensor
// is named twice and there is at least one; FileError otherwise. The index's "metadata" is not
// read.
std::map<std::string, std::string> read_shard_index(const std::filesystem::path& path);
// From its text; `name` stands for the path in messages.
std::map<std::string, std::string> parse_shard_index(std::string_view text, std::string name);

}  // namespace hone::ckpt
