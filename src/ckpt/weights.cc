#include "ckpt/weights.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "base/error.h"
#include "base/quote.h"
#include "ckpt/dequant.h"
#include "ckpt/gguf.h"
#include "ckpt/safetensors.h"
#include "ckpt/shard_index.h"

namespace hone::ckpt {
namespace {

namespace fs = std::filesystem;

// FileError when it cannot be told, as in a folder that we may not enter.
bool is_there(const fs::path& path) {
  std::error_code failed;
  const bool found = fs::exists(path, failed);
  if (failed) throw FileError("cannot open {}: {}", path.string(), failed.message());
  return found;
}

// The GGUF format of the same layout, for the float dtypes.
std::optional<GgmlType> float_format(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return GgmlType::kF32;
    case DType::kF16:
      return GgmlType::kF16;
    case DType::kBF16:
      return GgmlType::kBF16;
    case DType::kF64:
      return GgmlType::kF64;
    default:
      return std::nullopt;
  }
}

class GgufWeights : public WeightSource {
 public:
  explicit GgufWeights(std::shared_ptr<const Gguf> gguf)
      : WeightSource(gguf->path()), gguf_(std::move(gguf)) {
    if (const int64_t shards = gguf_->integer("split.count").value_or(1); shards > 1)
      throw FileError(
          "{} is one of {} shards of a GGUF model; join them with llama-gguf-split "
          "--merge",
          path(), shards);
    std::vector<Weight> weights;
    for (const GgufTensor& t : gguf_->tensors())
      weights.push_back({std::string(t.name), t.dims, format_of(t.type).name});
    set_weights(std::move(weights));
  }

 private:
  void read(const Weight& weight, std::span<float> out) const override {
    const GgufTensor* tensor = gguf_->find(weight.name);
    dequantise(tensor->type, tensor->bytes, out);
  }

  std::shared_ptr<const Gguf> gguf_;
};

class SafetensorsWeights : public WeightSource {
 public:
  SafetensorsWeights(const fs::path& path, std::vector<Safetensors> files)
      : WeightSource(path.string()), files_(std::move(files)) {
    std::vector<Weight> weights;
    for (const Safetensors& file : files_)
      for (const TensorView& t : file.tensors()) {
        weights.push_back({t.name, t.type.dims, safetensors_name(t.type.dtype)});
        tensors_.emplace(t.name, &t);
      }
    set_weights(std::move(weights));
  }

 private:
  void read(const Weight& weight, std::span<float> out) const override {
    const TensorView& tensor = *tensors_.find(weight.name)->second;
    const auto format = float_format(tensor.type.dtype);
    if (!format)
      throw FileError("{}: {} is stored as {}, not as floats", path(), quote(weight.name),
                      weight.stored);
    dequantise(*format, tensor.bytes, out);
  }

  std::vector<Safetensors> files_;
  std::map<std::string_view, const TensorView*> tensors_;  // into files_
};

// Each shard must hold exactly what the index says it does.
std::vector<Safetensors> open_shards(const fs::path& index) {
  const auto shard_of = read_shard_index(index);
  std::map<std::string_view, size_t> position;  // in files
  std::vector<Safetensors> files;
  for (const auto& [tensor, shard] : shard_of) {
    const fs::path path = index.parent_path() / shard;
    if (!position.contains(shard)) {
      if (!is_there(path))
        throw FileError("{} is missing, and {} needs it; incomplete download?", path.string(),
                        index.string());
      position.emplace(shard, files.size());
      files.emplace_back(path);
    }
    if (files[position[shard]].find(tensor) == nullptr)
      throw FileError("{} does not hold the tensor {} that {} places there", path.string(),
                      quote(tensor), index.string());
  }
  for (const Safetensors& file : files)
    for (const TensorView& t : file.tensors()) {
      const auto at = shard_of.find(t.name);
      if (at == shard_of.end() || &files[position[at->second]] != &file)
        throw FileError("{} holds the tensor {}, which {} does not place there", file.path(),
                        quote(t.name), index.string());
    }
  return files;
}

std::unique_ptr<WeightSource> open_folder(const fs::path& folder) {
  std::vector<Safetensors> files;
  if (const fs::path whole = folder / "model.safetensors"; is_there(whole))
    files.emplace_back(whole);
  else if (const fs::path index = folder / "model.safetensors.index.json"; is_there(index))
    files = open_shards(index);
  else
    throw FileError(
        "{} holds neither model.safetensors nor model.safetensors.index.json{}", folder.string(),
        is_there(folder / "pytorch_model.bin") || is_there(folder / "pytorch_model.bin.index.json")
            ? "; save the model as safetensors first (pytorch_model.bin is not read)"
            : "");
  return std::make_unique<SafetensorsWeights>(folder, std::move(files));
}

}  // namespace

const Weight* WeightSource::find(std::string_view name) const {
  const auto at = std::ranges::lower_bound(weights_, name, {}, &Weight::name);
  return at != weights_.end() && at->name == name ? &*at : nullptr;
}

void WeightSource::set_weights(std::vector<Weight> weights) {
  weights_ = std::move(weights);
  std::ranges::sort(weights_, {}, &Weight::name);
}

void WeightSource::read_f32(std::string_view name, std::span<float> out) const {
  const Weight* weight = find(name);
  if (weight == nullptr) throw FileError("{} holds no weight {}", path_, quote(name));
  const auto elements = static_cast<size_t>(Type{DType::kF32, weight->dims}.size());
  if (out.size() != elements)
    throw ShapeError("{}: {} has {} elements and there is room for {}", path_, quote(name),
                     elements, out.size());
  read(*weight, out);
}

std::unique_ptr<WeightSource> weights_of(std::shared_ptr<const Gguf> file) {
  return std::make_unique<GgufWeights>(std::move(file));
}

std::unique_ptr<WeightSource> open_weights(const fs::path& path) {
  if (!is_there(path)) throw FileError("{} does not exist", path.string());
  if (fs::is_directory(path)) return open_folder(path);
  if (is_gguf(path)) return weights_of(std::make_shared<Gguf>(path));
  if (path.extension() != ".safetensors")
    throw FileError("{} is neither a model folder nor a .gguf or .safetensors file", path.string());
  std::vector<Safetensors> files;
  files.emplace_back(path);
  return std::make_unique<SafetensorsWeights>(path, std::move(files));
}

}  // namespace hone::ckpt
