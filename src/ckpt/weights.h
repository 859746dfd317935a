// The weights of a checkpoint, whatever its format: names, stored dims, and f32 values on demand.
//
// Names are the checkpoint's own: a GGUF file says "blk.0.attn_q.weight" where a Hugging Face
// folder says "model.layers.0.self_attn.q_proj.weight"; the model family knows how they correspond.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/type.h"

namespace hone::ckpt {

class Gguf;

struct Weight {
  std::string name;
  Dims dims;                // row-major
  std::string_view stored;  // how it lies in the file: "F32", "BF16", "Q4_K"
};

class WeightSource {
 public:
  virtual ~WeightSource() = default;

  const std::string& path() const { return path_; }
  std::span<const Weight> weights() const { return weights_; }  // sorted by name
  const Weight* find(std::string_view name) const;              // null when absent

  // The values in row-major order; out has room for exactly all of them. FileError when there is
  // no such weight or it is not stored as floats. Threads may call at once.
  void read_f32(std::string_view name, std::span<float> out) const;

 protected:
  explicit WeightSource(std::string path) : path_(std::move(path)) {}
  void set_weights(std::vector<Weight> weights);  // in any order

  // `weight` is one of weights(), and out has its size.
  virtual void read(const Weight& weight, std::span<float> out) const = 0;

 private:
  std::string path_;
  std::vector<Weight> weights_;
};

// A folder with model.safetensors, or with model.safetensors.index.json and the shards it names; or
// a .safetensors file; or a GGUF file (known by its first bytes). FileError on anything else, and
// when index and shards disagree.
std::unique_ptr<WeightSource> open_weights(const std::filesystem::path& path);

// The weights of an open file. FileError where it is one shard of several.
std::unique_ptr<WeightSource> weights_of(std::shared_ptr<const Gguf> file);

}  // namespace hone::ckpt
