#include "engine/model_files.h"

#include <algorithm>

#include "base/error.h"
#include "base/json.h"

namespace hone::engine {

ModelFiles::ModelFiles(const std::filesystem::path& path) : path_(path) {
  std::filesystem::path file = path;
  if (std::filesystem::is_directory(path)) {
    file /= "config.json";
    source_ = ckpt::open_weights(path);
    config_ = read_json(file);
    if (!config_.is_object() || !config_.contains("model_type") ||
        !config_["model_type"].is_string())
      throw ConfigError("{}: no \"model_type\"", file.string());
    family_ = &family_of(config_["model_type"].get<std::string>());
  } else {
    if (!ckpt::is_gguf(path))
      throw ConfigError("{} is no model: want a Hugging Face folder or a GGUF file", path.string());
    gguf_ = std::make_shared<ckpt::Gguf>(path);
    source_ = ckpt::weights_of(gguf_);
    const auto architecture = gguf_->text("general.architecture");
    if (!architecture) throw FileError("{}: no general.architecture", path.string());
    family_ = &family_of_gguf(*architecture);
    config_ = config_of(*gguf_, *family_);
  }
  architecture_ = read_architecture(*family_, file.string(), config_);
  if (gguf_) gguf_names_ = tensors_of(*gguf_, *family_, static_cast<int64_t>(shape().kv.size()));
}

std::string_view ModelFiles::stored_name(std::string_view name) const {
  if (!gguf_) return name;
  const auto it = gguf_names_.find(name);
  return it == gguf_names_.end() ? std::string_view() : it->second.name;
}

void ModelFiles::check_weight(std::string_view name, const Dims& dims) const {
  const ckpt::Weight* w = source_->find(stored_name(name));
  if (w == nullptr) throw ConfigError("{}: weight \"{}\" is missing", path_.string(), name);
  if (w->dims != dims)
    throw ConfigError("{}: weight \"{}\" is {} where the config says {}", path_.string(), name,
                      Type{DType::kF32, w->dims}.str(), Type{DType::kF32, dims}.str());
}

void ModelFiles::read(std::string_view name, const Dims& dims, std::span<float> out) const {
  check_weight(name, dims);
  source_->read_f32(stored_name(name), out);
  if (!gguf_) return;
  const GgufNames::Order order = gguf_names_.find(name)->second.order;
  if (order == GgufNames::Order::kSame) return;
  if (order == GgufNames::Order::kPlusOne) {
    for (float& v : out) v -= 1;
    return;
  }
  const bool query = order == GgufNames::Order::kInterleavedQuery;
  const int64_t head_dim = shape().kv.front().head_dim;
  const int64_t heads = query ? dims[0] / head_dim : shape().kv.front().heads;
  undo_interleaving(out, heads, head_dim, dims[1]);
}

std::string_view ModelFiles::stored(std::string_view name) const {
  const ckpt::Weight* w = source_->find(stored_name(name));
  return w == nullptr ? std::string_view() : w->stored;
}

void ModelFiles::check_all_used(std::span<const std::string> declared) const {
  if (gguf_) return;  // tensors_of() has checked the names
  for (const ckpt::Weight& w : source_->weights()) {
    const bool known = std::ranges::find(declared, w.name) != declared.end() ||
                       std::ranges::any_of(family_->unused_tensors, [&](std::string_view end) {
                         return std::string_view(w.name).ends_with(end);
                       });
    if (!known)
      throw ConfigError("{}: weight \"{}\" is none that the {} family knows", path_.string(),
                        w.name, family_->model_type);
  }
}

}  // namespace hone::engine
