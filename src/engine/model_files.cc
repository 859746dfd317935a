#include "engine/model_files.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

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
    family_ = &family_of_gguf(*architecture, [&](std::string_view key) {
      return gguf_->integer(fmt::format("{}.{}", *architecture, key)).value_or(0);
    });
    config_ = config_of(*gguf_, *family_);
  }
  architecture_ = read_architecture(*family_, file.string(), config_);
  if (gguf_) gguf_names_ = tensors_of(*gguf_, *family_, shape().layers);
}

std::string ModelFiles::stored_name(std::string_view name) const {
  if (gguf_) {
    const auto it = gguf_names_.find(name);
    return it == gguf_names_.end() ? "" : it->second.name;
  }
  for (const auto& [declared, stored] : family_->aliases) {
    if (!name.starts_with(declared)) continue;
    std::string other = fmt::format("{}{}", stored, name.substr(declared.size()));
    if (source_->find(other) != nullptr) return other;
  }
  return std::string(name);
}

bool ModelFiles::has(std::string_view name) const {
  return source_->find(stored_name(name)) != nullptr;
}

std::vector<Piece> ModelFiles::pieces(std::string_view name, const Dims& dims) const {
  return pieces_of(family_->spellings, std::string(name), dims,
                   [this](std::string_view n) { return has(n); });
}

void ModelFiles::check_weight(std::string_view name, const Dims& dims) const {
  for (const Piece& piece : pieces(name, dims)) {
    const ckpt::Weight* w = source_->find(stored_name(piece.name));
    if (w == nullptr) throw ConfigError("{}: weight \"{}\" is missing", path_.string(), piece.name);
    if (w->dims != piece.dims)
      throw ConfigError("{}: weight \"{}\" is {} where the config says {}", path_.string(),
                        piece.name, Type{DType::kF32, w->dims}.str(),
                        Type{DType::kF32, piece.dims}.str());
  }
}

void ModelFiles::read(std::string_view name, const Dims& dims, std::span<float> out) const {
  check_weight(name, dims);
  for (const Piece& piece : pieces(name, dims)) {
    const auto first = static_cast<size_t>(piece.first), run = static_cast<size_t>(piece.run);
    const auto size = static_cast<size_t>(Type{DType::kF32, piece.dims}.size());
    if (size == run) {
      read_piece(piece, out.subspan(first, run));
      continue;
    }
    std::vector<float> values(size);
    read_piece(piece, values);
    for (size_t i = 0; i * run < size; ++i)
      std::ranges::copy(std::span(values).subspan(i * run, run),
                        out.begin() + static_cast<long>(first) +
                            static_cast<long>(i) * static_cast<long>(piece.stride));
  }
}

void ModelFiles::read_piece(const Piece& piece, std::span<float> out) const {
  source_->read_f32(stored_name(piece.name), out);
  if (!gguf_) return;
  const GgufNames::Order order = gguf_names_.find(piece.name)->second.order;
  if (order == GgufNames::Order::kSame) return;
  if (order == GgufNames::Order::kPlusOne) {
    for (float& v : out) v -= 1;
    return;
  }
  const bool query = order == GgufNames::Order::kInterleavedQuery;
  const int64_t head_dim = shape().kv.front().head_dim;
  const int64_t heads = query ? piece.dims[0] / head_dim : shape().kv.front().heads;
  undo_interleaving(out, heads, head_dim, piece.dims[1]);
}

std::string_view ModelFiles::stored(std::string_view name) const {
  const std::string piece = a_piece_of(family_->spellings, std::string(name),
                                       [this](std::string_view n) { return has(n); });
  const ckpt::Weight* w = source_->find(stored_name(piece));
  return w == nullptr ? std::string_view() : w->stored;
}

void ModelFiles::check_all_used(std::span<const Declared> declared) const {
  if (gguf_) return;  // tensors_of() has checked the names
  std::set<std::string, std::less<>> used;
  for (const auto& [name, dims] : declared)
    for (const Piece& piece : pieces(name, dims)) used.insert(stored_name(piece.name));
  for (const ckpt::Weight& w : source_->weights()) {
    const std::string_view name = w.name;
    const auto ends = [&](std::string_view end) { return name.ends_with(end); };
    const auto begins = [&](std::string_view tower) { return name.starts_with(tower); };
    const bool known = used.contains(name) || std::ranges::any_of(family_->unused_tensors, ends) ||
                       std::ranges::any_of(family_->towers, begins);
    if (!known)
      throw ConfigError("{}: weight \"{}\" is none that the {} family knows", path_.string(),
                        w.name, family_->model_type);
  }
}

std::vector<const ckpt::Weight*> ModelFiles::towers() const {
  std::vector<const ckpt::Weight*> found;
  for (const ckpt::Weight& w : source_->weights())
    if (std::ranges::any_of(family_->towers, [&](auto t) { return w.name.starts_with(t); }))
      found.push_back(&w);
  return found;
}

std::string ModelFiles::skipped() const {
  const std::vector<const ckpt::Weight*> all = towers();
  std::vector<std::string> counts;
  for (const std::string_view tower : family_->towers)
    if (const auto n = std::ranges::count_if(
            all, [&](const ckpt::Weight* w) { return w->name.starts_with(tower); });
        n > 0)
      counts.push_back(fmt::format("{}* ({})", tower, n));
  return all.empty() ? "" : fmt::format("{} weights: {}", all.size(), fmt::join(counts, ", "));
}

void ModelFiles::read_tower(const ckpt::Weight& weight, std::span<float> out) const {
  source_->read_f32(weight.name, out);
}

}  // namespace hone::engine
