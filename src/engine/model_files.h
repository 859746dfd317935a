// A model as it lies on disk: a Hugging Face folder or a GGUF file, behind one face.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>

#include "ckpt/gguf.h"
#include "ckpt/weights.h"
#include "engine/gguf_model.h"
#include "engine/spelling.h"
#include "models/family.h"

namespace hone::engine {

// The path that a recipe's or a command's MODEL means: a folder, a .gguf file, or a name in the
// catalogue models.yaml of the project's root. Throws ConfigError naming what there is.
std::filesystem::path find_model(const std::string& model);

class ModelFiles {
 public:
  // Throws FileError, ConfigError.
  explicit ModelFiles(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return path_; }
  const Family& family() const { return *family_; }
  const nlohmann::json& config() const { return config_; }
  const ModelShape& shape() const { return architecture_.shape; }
  Decoder build(nn::Scope root) const { return architecture_.build(root); }
  const ckpt::Gguf* gguf() const { return gguf_.get(); }  // null for a folder

  // Throws ConfigError when the checkpoint lacks this weight or has it with other dims.
  void check_weight(std::string_view name, const Dims& dims) const;
  // Reads the weight that the family declares as `name` with `dims`, after check_weight. Threads
  // may call at once.
  void read(std::string_view name, const Dims& dims, std::span<float> out) const;
  // How the file holds it: "F32", "BF16", "Q4_K"; "" when it does not. Of pieces, the first.
  std::string_view stored(std::string_view name) const;
  // Throws ConfigError when the checkpoint holds weights that are neither among `declared` nor
  // known to the family as unused.
  using Declared = std::pair<std::string, Dims>;
  void check_all_used(std::span<const Declared> declared) const;
  // The checkpoint's weights of towers that hone does not run; and how many there are: "435
  // weights: model.vision_tower.* (434), model.embed_vision.* (1)", "" for none.
  std::vector<const ckpt::Weight*> towers() const;
  std::string skipped() const;
  void read_tower(const ckpt::Weight& weight, std::span<float> out) const;

 private:
  std::string stored_name(std::string_view name) const;
  bool has(std::string_view name) const;
  std::vector<Piece> pieces(std::string_view name, const Dims& dims) const;
  void read_piece(const Piece& piece, std::span<float> out) const;

  std::filesystem::path path_;
  std::shared_ptr<const ckpt::Gguf> gguf_;
  std::unique_ptr<ckpt::WeightSource> source_;
  const Family* family_ = nullptr;
  nlohmann::json config_;
  Architecture architecture_;
  std::map<std::string, GgufSource, std::less<>> gguf_names_;
};

}  // namespace hone::engine
