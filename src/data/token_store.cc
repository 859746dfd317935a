#include "data/token_store.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/check.h"
#include "base/error.h"
#include "base/json.h"
#include "base/mmap.h"

namespace hone::data {
namespace {

constexpr std::array<char, 8> kMagic{'H', 'O', 'N', 'E', 'T', 'O', 'K', '1'};
constexpr size_t kPending = size_t{1} << 18;  // words
constexpr size_t kAlignment = 16;

struct Footer {
  uint64_t words = 0, samples = 0, notes = 0;  // notes in bytes
  uint64_t largest_id = 0;
  std::array<char, 8> magic = kMagic;
};

uint64_t padding(uint64_t bytes) { return (kAlignment - bytes % kAlignment) % kAlignment; }

struct InMemory {
  std::vector<uint32_t> words;
  std::vector<StoredSample> index;
};

void append_words(std::vector<uint32_t>& words, const Sample& sample, int32_t& largest) {
  check(sample.ids.size() == sample.mask.size(), "{} ids but {} mask entries", sample.ids.size(),
        sample.mask.size());
  for (size_t i = 0; i < sample.ids.size(); ++i) {
    check(sample.ids[i] >= 0, "token id {}", sample.ids[i]);
    largest = std::max(largest, sample.ids[i]);
    words.push_back(static_cast<uint32_t>(sample.ids[i]) |
                    (sample.mask[i] != 0 ? TokenStore::kLearnt : 0));
  }
}

StoredSample entry(const Sample& sample, bool ends, uint64_t hash) {
  if (sample.ids.size() > INT32_MAX)
    throw ConfigError("an example of {} tokens is too long", sample.ids.size());
  return {static_cast<uint32_t>(sample.ids.size()),
          static_cast<uint32_t>(target_count(sample)) | (ends ? TokenStore::kEnds : 0), hash};
}

// Where the footer's numbers put each part; FileError unless they are those of a file of `size`.
struct Layout {
  Footer footer;
  size_t index = 0, notes = 0;  // byte offsets

  Layout(std::span<const std::byte> bytes, const std::string& name) {
    const uint64_t size = bytes.size();
    if (size < sizeof footer) damaged(name);
    std::memcpy(&footer, bytes.data() + size - sizeof footer, sizeof footer);
    if (footer.magic != kMagic || footer.words > size / sizeof(uint32_t) ||
        footer.samples > size / sizeof(StoredSample) || footer.notes > size)
      damaged(name);
    const uint64_t words = footer.words * sizeof(uint32_t);
    index = words + padding(words);
    notes = index + footer.samples * sizeof(StoredSample);
    if (notes + footer.notes + sizeof footer != size) damaged(name);
  }
  [[noreturn]] static void damaged(const std::string& name) {
    throw FileError("{} holds no tokens, or is damaged; remove it and run again", name);
  }
};

}  // namespace

std::shared_ptr<const TokenStore> TokenStore::open(const std::filesystem::path& file) {
  const auto map = std::make_shared<Mmap>(file);
  const auto bytes = map->bytes();
  const Layout layout(bytes, file.string());
  const std::shared_ptr<TokenStore> store(new TokenStore);
  store->owner_ = map;
  store->words_ = {reinterpret_cast<const uint32_t*>(bytes.data()), layout.footer.words};
  store->index_ = {reinterpret_cast<const StoredSample*>(bytes.data() + layout.index),
                   layout.footer.samples};
  store->largest_id_ = static_cast<int32_t>(layout.footer.largest_id & INT32_MAX);
  store->notes_ = parse_ordered_json(
      {reinterpret_cast<const char*>(bytes.data() + layout.notes), layout.footer.notes},
      file.string());
  store->find_offsets(file.string());
  return store;
}

std::shared_ptr<const TokenStore> TokenStore::of(const std::vector<Sample>& samples) {
  const auto memory = std::make_shared<InMemory>();
  const std::shared_ptr<TokenStore> store(new TokenStore);
  for (const Sample& sample : samples) {
    append_words(memory->words, sample, store->largest_id_);
    memory->index.push_back(entry(sample, /*ends=*/false, /*hash=*/0));
  }
  store->owner_ = memory;
  store->words_ = memory->words;
  store->index_ = memory->index;
  store->find_offsets("memory");
  return store;
}

void TokenStore::find_offsets(const std::string& name) {
  uint64_t offset = 0;
  offsets_.reserve(index_.size());
  for (const StoredSample& s : index_) {
    offsets_.push_back(offset);
    offset += s.length;
    if (offset > words_.size() || (s.targets & ~kEnds) > s.length) Layout::damaged(name);
  }
  if (offset != words_.size()) Layout::damaged(name);
}

std::span<const uint32_t> TokenStore::words(int64_t i, int64_t begin, int64_t length) const {
  check(begin >= 0 && length >= 0 && begin + length <= this->length(i), "tokens {} + {} of {}",
        begin, length, this->length(i));
  return words_.subspan(offsets_[static_cast<size_t>(i)] + static_cast<size_t>(begin),
                        static_cast<size_t>(length));
}

Sample TokenStore::sample(int64_t i, int64_t begin, int64_t length) const {
  Sample sample;
  sample.ids.reserve(static_cast<size_t>(length));
  sample.mask.reserve(static_cast<size_t>(length));
  for (const uint32_t word : words(i, begin, length)) {
    sample.ids.push_back(static_cast<int32_t>(word & ~kLearnt));
    sample.mask.push_back((word & kLearnt) != 0 ? 1 : 0);
  }
  return sample;
}

int64_t TokenStore::targets(int64_t i, int64_t begin, int64_t length) const {
  if (length == 0) return 0;
  return std::ranges::count_if(words(i, begin, length).subspan(1),
                               [](uint32_t word) { return (word & kLearnt) != 0; });
}

void TokenStoreWriter::add(const Sample& sample, bool ends, uint64_t hash) {
  index_.push_back(entry(sample, ends, hash));
  append_words(pending_, sample, largest_id_);
  words_ += sample.ids.size();
  if (pending_.size() >= kPending) flush();
}

void TokenStoreWriter::flush() {
  file_.write(std::as_bytes(std::span(pending_)));
  pending_.clear();
}

void TokenStoreWriter::commit(const nlohmann::ordered_json& notes) {
  flush();
  file_.write(std::string(padding(words_ * sizeof(uint32_t)), '\0'));
  file_.write(std::as_bytes(std::span(index_)));
  const std::string text = notes.dump();
  file_.write(text);
  const Footer footer{.words = words_,
                      .samples = index_.size(),
                      .notes = text.size(),
                      .largest_id = static_cast<uint64_t>(largest_id_)};
  file_.write(std::as_bytes(std::span(&footer, 1)));
  file_.commit();
}

}  // namespace hone::data
