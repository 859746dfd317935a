// Safetensors files: a JSON header that places each tensor in one buffer (spec: the format section
// of github.com/huggingface/safetensors).
//
// The reader is strict: a header of at most 100,000,000 bytes that begins with { and ends with
// spaces only, no duplicate names, metadata from string to string, and tensors that cover the
// buffer with no hole and no overlap. All of it is checked when the file is opened, against the
// file's real size, before any byte of a tensor is touched. Each violation is a one-line FileError.
// Our own limits, beyond the format's: 2^18 tensors, 64 dimensions, 65,536 metadata entries, no
// string above 8 MB.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/mmap.h"
#include "base/type.h"

namespace hone::ckpt {

// The bytes are row-major and little-endian at any alignment; somebody else owns them.
struct TensorView {
  std::string name;
  Type type;
  std::span<const std::byte> bytes;
};

using Metadata = std::map<std::string, std::string>;

// The format's spelling of a dtype ("BF16", "I64", "BOOL") and back.
std::string_view safetensors_name(DType dtype);
std::optional<DType> safetensors_dtype(std::string_view name);  // nullopt: hone has no such dtype

class Safetensors {
 public:
  explicit Safetensors(const std::filesystem::path& path);
  // From memory that outlives the object; `name` stands for the path in messages.
  Safetensors(std::span<const std::byte> bytes, std::string name);

  const std::string& path() const { return path_; }
  std::span<const TensorView> tensors() const { return tensors_; }  // sorted by name
  const TensorView* find(std::string_view name) const;              // null when absent
  const Metadata& metadata() const { return metadata_; }

 private:
  void parse(std::span<const std::byte> file);

  std::unique_ptr<Mmap> map_;  // null when the bytes are the caller's
  std::string path_;
  std::vector<TensorView> tensors_;
  Metadata metadata_;
};

// Writes a whole file or leaves none (atomic_file.h). Tensors are stored widest dtype first, then
// by name, so every one is aligned to its own width. Without {"format": "pt"} transformers refuses
// to load a file. FileError for a name that is repeated or is not UTF-8.
void write_safetensors(const std::filesystem::path& path, std::span<const TensorView> tensors,
                       const Metadata& metadata = {{"format", "pt"}});

}  // namespace hone::ckpt
