#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/check.h"
#include "base/error.h"
#include "base/quote.h"
#include "ckpt/atomic_file.h"
#include "ckpt/safetensors.h"

namespace hone::ckpt {
namespace {

constexpr size_t kHeaderAlignment = 8;

// Widest dtype first, so that no tensor needs padding, which the format forbids.
std::vector<const TensorView*> in_file_order(std::span<const TensorView> tensors) {
  std::vector<const TensorView*> order;
  for (const TensorView& t : tensors) order.push_back(&t);
  std::ranges::sort(order, {}, [](const TensorView* t) {
    return std::pair(-static_cast<int>(byte_size(t->type.dtype)), std::string_view(t->name));
  });
  return order;
}

std::string header_of(const std::vector<const TensorView*>& order, const Metadata& metadata) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  size_t begin = 0;
  for (const TensorView* t : order) {
    const size_t end = begin + t->bytes.size();
    header[t->name] = {{"dtype", safetensors_name(t->type.dtype)},
                       {"shape", t->type.dims},
                       {"data_offsets", {begin, end}}};
    begin = end;
  }
  std::string text = header.dump();
  text.resize((text.size() + kHeaderAlignment - 1) / kHeaderAlignment * kHeaderAlignment, ' ');
  return text;
}

void check_names(std::span<const TensorView> tensors, const std::filesystem::path& path) {
  std::vector<std::string_view> names;
  for (const TensorView& t : tensors) {
    check(t.bytes.size() == t.type.bytes(), "{} is {} but has {} bytes", t.name, t.type.str(),
          t.bytes.size());
    if (!valid_utf8(t.name) || t.name == "__metadata__")
      throw FileError("cannot write {}: {} cannot name a tensor", path.string(), quote(t.name));
    names.push_back(t.name);
  }
  std::ranges::sort(names);
  const auto same = std::ranges::adjacent_find(names);
  if (same != names.end())
    throw FileError("cannot write {}: two tensors are named {}", path.string(), quote(*same));
}

void check_metadata(const Metadata& metadata, const std::filesystem::path& path) {
  for (const auto& [key, value] : metadata)
    if (!valid_utf8(key) || !valid_utf8(value))
      throw FileError("cannot write {}: the metadata at {} is not UTF-8", path.string(),
                      quote(key));
}

}  // namespace

void write_safetensors(const std::filesystem::path& path, std::span<const TensorView> tensors,
                       const Metadata& metadata) {
  check_names(tensors, path);
  check_metadata(metadata, path);
  const auto order = in_file_order(tensors);
  const std::string header = header_of(order, metadata);
  const uint64_t length = header.size();

  AtomicFile file(path);
  file.write(std::as_bytes(std::span(&length, 1)));
  file.write(header);
  for (const TensorView* t : order) file.write(t->bytes);
  file.commit();
}

}  // namespace hone::ckpt
