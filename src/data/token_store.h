// Tokenised samples on disk, read through a mapping: a set of any size costs no memory.
//
// The file: the samples' tokens as u32, one sample after another, id in the low 31 bits and the
// mask in the top one; zeros up to a multiple of 16; one Entry a sample; the notes as JSON; the
// Footer. Little-endian. Which data it holds is in its name (data/token_cache.h).
#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <vector>

#include "ckpt/atomic_file.h"
#include "data/sample.h"

namespace hone::data {

struct StoredSample {
  uint32_t length = 0;
  uint32_t targets = 0;  // the top bit: the end of a turn is one
  uint64_t hash = 0;     // content_hash() of the example
};

class TokenStore {
 public:
  // Throws FileError: not such a file, or damaged.
  static std::shared_ptr<const TokenStore> open(const std::filesystem::path& file);
  // In memory.
  static std::shared_ptr<const TokenStore> of(const std::vector<Sample>& samples);

  int64_t size() const { return std::ssize(index_); }
  int64_t length(int64_t i) const { return at(i).length; }
  int64_t targets(int64_t i) const { return at(i).targets & ~kEnds; }
  bool ends(int64_t i) const { return (at(i).targets & kEnds) != 0; }
  uint64_t hash(int64_t i) const { return at(i).hash; }
  // Tokens [begin, begin + length) of a sample.
  Sample sample(int64_t i, int64_t begin, int64_t length) const;
  int64_t targets(int64_t i, int64_t begin, int64_t length) const;  // of that part, but its first

  int32_t largest_id() const { return largest_id_; }
  int64_t tokens() const { return std::ssize(words_); }
  const nlohmann::ordered_json& notes() const { return notes_; }

  static constexpr uint32_t kEnds = 1U << 31, kLearnt = 1U << 31;

 private:
  TokenStore() = default;
  const StoredSample& at(int64_t i) const { return index_[static_cast<size_t>(i)]; }
  std::span<const uint32_t> words(int64_t i, int64_t begin, int64_t length) const;
  void find_offsets(const std::string& name);

  std::shared_ptr<const void> owner_;
  std::span<const uint32_t> words_;
  std::span<const StoredSample> index_;
  std::vector<uint64_t> offsets_;  // of each sample in words_
  int32_t largest_id_ = 0;
  nlohmann::ordered_json notes_ = nlohmann::ordered_json::object();
};

// Writes the file whole or not at all.
class TokenStoreWriter {
 public:
  explicit TokenStoreWriter(const std::filesystem::path& file) : file_(file) {}

  void add(const Sample& sample, bool ends, uint64_t hash);
  int64_t size() const { return std::ssize(index_); }
  void commit(const nlohmann::ordered_json& notes);

 private:
  void flush();

  ckpt::AtomicFile file_;
  std::vector<uint32_t> pending_;
  std::vector<StoredSample> index_;
  uint64_t words_ = 0;
  int32_t largest_id_ = 0;
};

}  // namespace hone::data
