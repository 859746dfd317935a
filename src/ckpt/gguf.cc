#include "ckpt/gguf.h"

#include <algorithm>
#include <fstream>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

#include "base/quote.h"
#include "ckpt/cursor.h"

namespace hone::ckpt {
namespace {

constexpr std::string_view kMagic = "GGUF";

// A hostile file must not make us keep much more than its own size; real files hold thousands.
constexpr uint64_t kMostKeys = 1 << 20;
constexpr uint64_t kMostTensors = 1 << 18;
constexpr uint64_t kLongestKey = 65535;
constexpr uint64_t kLongestTensorName = 64;
constexpr uint32_t kMostDims = 4;
constexpr uint64_t kDefaultAlignment = 32;

// GGUF's numbers for the types of metadata values.
enum ValueType : uint32_t {
  kU8,
  kI8,
  kU16,
  kI16,
  kU32,
  kI32,
  kF32,
  kBool,
  kString,
  kArray,
  kU64,
  kI64,
  kF64,
};

std::string_view type_name(uint32_t type) {
  constexpr std::string_view kNames[] = {"u8",   "i8",     "u16",   "i16", "u32", "i32", "f32",
                                         "bool", "string", "array", "u64", "i64", "f64"};
  return kNames[type];
}

// Bytes of one value; 0 for strings and arrays, which carry their own length.
uint64_t width(uint32_t type) {
  constexpr uint8_t kWidths[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
  return kWidths[type];
}

bool is_integer(uint32_t type) { return type <= kI32 || type == kU64 || type == kI64; }
bool is_real(uint32_t type) { return type == kF32 || type == kF64; }
bool is_bool(uint32_t type) { return type == kBool; }
bool is_string(uint32_t type) { return type == kString; }

double load_real(uint32_t type, const std::byte* at) {
  return type == kF32 ? static_cast<double>(load<float>(at)) : load<double>(at);
}

std::string_view load_text(Cursor& cursor) { return cursor.text("a string"); }

uint32_t read_type(Cursor& cursor, std::string_view file, std::string_view key) {
  const auto type = cursor.number<uint32_t>("the type of a metadata value");
  if (type > kF64) throw FileError("{}: {} has the unknown value type {}", file, quote(key), type);
  return type;
}

// Steps over `count` values and checks what a reader may rely on: they are all there, and a bool
// is 0 or 1.
void skip_values(Cursor& cursor, std::string_view file, std::string_view key, uint32_t type,
                 uint64_t count) {
  const uint64_t least = type == kString ? sizeof(uint64_t) : width(type);
  if (count > cursor.remaining() / least)
    throw FileError("{}: {} claims {} values of {} but {} bytes are left", file, quote(key), count,
                    type_name(type), cursor.remaining());
  if (type == kString) {
    for (uint64_t i = 0; i < count; ++i) load_text(cursor);
    return;
  }
  const auto bytes = cursor.take(count * width(type), "a metadata value");
  if (type == kBool && std::ranges::any_of(bytes, [](std::byte b) { return b > std::byte{1}; }))
    throw FileError("{}: {} holds a bool that is neither 0 nor 1", file, quote(key));
}

uint64_t bounded_count(Cursor& cursor, std::string_view file, std::string_view what, uint64_t most,
                       uint64_t least_bytes) {
  const auto count = cursor.number<uint64_t>("the header");
  if (count > most)
    throw FileError("{} claims {} {}; hone reads at most {}", file, count, what, most);
  if (count > cursor.remaining() / least_bytes)
    throw FileError("{} claims {} {} but holds {} bytes after its header", file, count, what,
                    cursor.remaining());
  return count;
}

struct Header {
  uint64_t tensors;
  uint64_t keys;
};

Header read_header(Cursor& cursor, std::string_view file) {
  const auto magic = cursor.take(kMagic.size(), "the magic");
  if (std::memcmp(magic.data(), kMagic.data(), kMagic.size()) != 0)
    throw FileError("{} is not a GGUF file: it does not begin with GGUF", file);
  const auto version = cursor.number<uint32_t>("the header");
  if (version == 0x02000000 || version == 0x03000000)
    throw FileError("{} is a big-endian GGUF file; only little-endian ones are read", file);
  if (version != 2 && version != 3)
    throw FileError("{} is GGUF version {}; versions 2 and 3 are read", file, version);
  // A tensor takes at least a name's length, n_dims, type and offset; a value its key and type.
  const uint64_t tensors = bounded_count(cursor, file, "tensors", kMostTensors, 24);
  const uint64_t keys = bounded_count(cursor, file, "metadata keys", kMostKeys, 13);
  return {tensors, keys};
}

// A tensor as its record says, before its bytes are found.
struct Claim {
  GgufTensor tensor;
  uint64_t offset;  // from the start of the data
  uint64_t size;    // bytes
};

Dims read_dims(Cursor& cursor, std::string_view file, std::string_view name) {
  const auto rank = cursor.number<uint32_t>("a tensor's record");
  if (rank > kMostDims)
    throw FileError("{}: tensor {} has {} dimensions; at most {} are possible", file, quote(name),
                    rank, kMostDims);
  Dims dims(rank);
  for (int64_t& dim : dims) {
    const auto stored = cursor.number<uint64_t>("a tensor's record");
    if (stored == 0 || stored > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
      throw FileError("{}: tensor {} has the impossible dimension {}", file, quote(name), stored);
    dim = static_cast<int64_t>(stored);
  }
  std::ranges::reverse(dims);
  return dims;
}

// Bytes of the tensor, when they can lie in the file at all.
uint64_t claimed_size(std::string_view file, const GgufTensor& tensor, uint64_t file_size) {
  const GgmlFormat& format = format_of(tensor.type);
  const int64_t row = tensor.dims.empty() ? 1 : tensor.dims.back();
  if (row % format.block_elements != 0)
    throw FileError("{}: tensor {} has rows of {} elements, which {} cannot hold (blocks of {})",
                    file, quote(tensor.name), row, format.name, format.block_elements);
  uint64_t blocks = 1;
  bool fits = true;
  for (const int64_t dim : tensor.dims)
    fits = fits && !__builtin_mul_overflow(blocks, static_cast<uint64_t>(dim), &blocks);
  blocks /= static_cast<uint64_t>(format.block_elements);
  if (!fits || blocks > file_size / format.block_bytes)
    throw FileError("{}: the dimensions of tensor {} need more bytes than the file has ({})", file,
                    quote(tensor.name), file_size);
  return blocks * format.block_bytes;
}

Claim read_claim(Cursor& cursor, std::string_view file, uint64_t file_size, uint64_t alignment) {
  Claim claim{};
  GgufTensor& tensor = claim.tensor;
  tensor.name = cursor.text("a tensor's name");
  if (tensor.name.empty() || tensor.name.size() > kLongestTensorName)
    throw FileError("{}: tensor name {} has {} bytes; 1 to {} are allowed", file,
                    quote(tensor.name), tensor.name.size(), kLongestTensorName);
  tensor.dims = read_dims(cursor, file, tensor.name);
  const auto type = cursor.number<uint32_t>("a tensor's record");
  const GgmlFormat* format = find_format(type);
  if (format == nullptr)
    throw FileError("{}: tensor {} has ggml type {}, which hone does not read; convert it to Q8_0",
                    file, quote(tensor.name), type);
  tensor.type = format->type;
  claim.offset = cursor.number<uint64_t>("a tensor's record");
  if (claim.offset % alignment != 0)
    throw FileError("{}: tensor {} begins at {}, not a multiple of the alignment {}", file,
                    quote(tensor.name), claim.offset, alignment);
  claim.size = claimed_size(file, tensor, file_size);
  return claim;
}

// Sorted positions of the records, and the first name that occurs twice.
template <class Records, class Name>
std::vector<uint32_t> sorted_by(const Records& records, Name name, std::string_view file,
                                std::string_view what) {
  std::vector<uint32_t> order(records.size());
  std::iota(order.begin(), order.end(), 0u);
  const auto name_at = [&](uint32_t i) { return std::invoke(name, records[i]); };
  std::ranges::sort(order, {}, name_at);
  const auto same = std::ranges::adjacent_find(order, {}, name_at);
  if (same != order.end())
    throw FileError("{} holds {} {} twice", file, what, quote(name_at(*same)));
  return order;
}

}  // namespace

bool is_gguf(const std::filesystem::path& path) {
  char magic[4] = {};
  std::ifstream(path, std::ios::binary).read(magic, sizeof magic);
  return std::string_view(magic, sizeof magic) == kMagic;
}

Gguf::Gguf(const std::filesystem::path& path)
    : map_(std::make_unique<Mmap>(path)), path_(path.string()) {
  parse(map_->bytes());
}

Gguf::Gguf(std::span<const std::byte> bytes, std::string name) : path_(std::move(name)) {
  parse(bytes);
}

void Gguf::parse(std::span<const std::byte> file) {
  Cursor cursor(file, path_);
  const Header header = read_header(cursor, path_);
  values_.reserve(header.keys);
  for (uint64_t i = 0; i < header.keys; ++i) read_value(cursor);
  values_by_key_ = sorted_by(values_, &Value::key, path_, "the metadata key");
  read_tensors(cursor, file, header.tensors);
}

void Gguf::read_value(Cursor& cursor) {
  Value value{};
  value.key = cursor.text("a metadata key");
  if (value.key.empty() || value.key.size() > kLongestKey)
    throw FileError("{}: metadata key {} has {} bytes; 1 to {} are allowed", path_,
                    quote(value.key), value.key.size(), kLongestKey);
  value.type = read_type(cursor, path_, value.key);
  value.array = value.type == kArray;
  value.count = 1;
  if (value.array) {
    value.type = read_type(cursor, path_, value.key);
    if (value.type == kArray)
      throw FileError("{}: {} is an array of arrays, which hone does not read", path_,
                      quote(value.key));
    value.count = cursor.number<uint64_t>("a metadata array");
  }
  const std::byte* begin = cursor.here();
  skip_values(cursor, path_, value.key, value.type, value.count);
  value.bytes = {begin, cursor.here()};
  values_.push_back(value);
}

uint64_t Gguf::alignment() const {
  const Value* found = value("general.alignment");
  if (found == nullptr) return kDefaultAlignment;
  if (found->array || found->type != kU32)
    throw FileError("{}: general.alignment must be one u32", path_);
  const auto alignment = load<uint32_t>(found->bytes.data());
  if (alignment < 8 || !std::has_single_bit(alignment))
    throw FileError("{}: general.alignment is {}; it must be a power of two, 8 or more", path_,
                    alignment);
  return alignment;
}

void Gguf::read_tensors(Cursor& cursor, std::span<const std::byte> file, uint64_t count) {
  const uint64_t align = alignment();
  std::vector<std::pair<uint64_t, uint64_t>> extents;  // offset and size, in file order
  extents.reserve(count);
  tensors_.reserve(count);
  for (uint64_t i = 0; i < count; ++i) {
    Claim claim = read_claim(cursor, path_, file.size(), align);
    extents.emplace_back(claim.offset, claim.size);
    tensors_.push_back(std::move(claim.tensor));
  }
  tensors_by_name_ = sorted_by(tensors_, &GgufTensor::name, path_, "the tensor");

  const uint64_t start = (cursor.position() + align - 1) / align * align;
  const uint64_t room = start < file.size() ? file.size() - start : 0;
  for (size_t i = 0; i < count; ++i) {
    const auto [offset, size] = extents[i];
    if (offset > room || size > room - offset)
      throw FileError(
          "{}: tensor {} has {} bytes at offset {} but the data section has {}; incomplete "
          "download?",
          path_, quote(tensors_[i].name), size, offset, room);
    tensors_[i].bytes = file.subspan(start + offset, size);
  }
  check_overlaps();
}

void Gguf::check_overlaps() const {
  std::vector<uint32_t> order(tensors_.size());
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::sort(order, {}, [&](uint32_t i) { return tensors_[i].bytes.data(); });
  for (size_t i = 1; i < order.size(); ++i) {
    const GgufTensor& before = tensors_[order[i - 1]];
    const GgufTensor& after = tensors_[order[i]];
    if (before.bytes.data() + before.bytes.size() > after.bytes.data())
      throw FileError("{}: tensors {} and {} overlap", path_, quote(before.name),
                      quote(after.name));
  }
}

const GgufTensor* Gguf::find(std::string_view name) const {
  const auto at = std::ranges::lower_bound(tensors_by_name_, name, {},
                                           [&](uint32_t i) { return tensors_[i].name; });
  return at != tensors_by_name_.end() && tensors_[*at].name == name ? &tensors_[*at] : nullptr;
}

const Gguf::Value* Gguf::value(std::string_view key) const {
  const auto at =
      std::ranges::lower_bound(values_by_key_, key, {}, [&](uint32_t i) { return values_[i].key; });
  return at != values_by_key_.end() && values_[*at].key == key ? &values_[*at] : nullptr;
}

const Gguf::Value* Gguf::value(std::string_view key, bool array, std::string_view wanted,
                               bool (*accepts)(uint32_t type)) const {
  const Value* found = value(key);
  if (found != nullptr && (found->array != array || !accepts(found->type)))
    throw FileError("{}: {} is {}{}, expected {}", path_, quote(key),
                    found->array ? "an array of " : "", type_name(found->type), wanted);
  return found;
}

int64_t Gguf::load_integer(const Value& from, const std::byte* at) const {
  switch (from.type) {
    case kU8:
    case kBool:
      return load<uint8_t>(at);
    case kI8:
      return load<int8_t>(at);
    case kU16:
      return load<uint16_t>(at);
    case kI16:
      return load<int16_t>(at);
    case kU32:
      return load<uint32_t>(at);
    case kI32:
      return load<int32_t>(at);
    default:
      break;
  }
  const auto stored = load<int64_t>(at);
  if (from.type == kU64 && stored < 0)
    throw FileError("{}: {} is {}, beyond what a count can be", path_, quote(from.key),
                    load<uint64_t>(at));
  return stored;
}

std::optional<std::string_view> Gguf::text(std::string_view key) const {
  const Value* found = value(key, false, "a string", is_string);
  if (found == nullptr) return std::nullopt;
  Cursor cursor(found->bytes, path_);
  return load_text(cursor);
}

std::optional<int64_t> Gguf::integer(std::string_view key) const {
  const Value* found = value(key, false, "an integer", is_integer);
  if (found == nullptr) return std::nullopt;
  return load_integer(*found, found->bytes.data());
}

std::optional<double> Gguf::real(std::string_view key) const {
  const Value* found = value(key, false, "f32 or f64", is_real);
  if (found == nullptr) return std::nullopt;
  return load_real(found->type, found->bytes.data());
}

std::optional<bool> Gguf::flag(std::string_view key) const {
  const Value* found = value(key, false, "a bool", is_bool);
  if (found == nullptr) return std::nullopt;
  return found->bytes[0] == std::byte{1};
}

std::vector<std::string_view> Gguf::texts(std::string_view key) const {
  std::vector<std::string_view> out;
  const Value* found = value(key, true, "an array of strings", is_string);
  if (found == nullptr) return out;
  out.reserve(found->count);
  Cursor cursor(found->bytes, path_);
  for (uint64_t i = 0; i < found->count; ++i) out.push_back(load_text(cursor));
  return out;
}

std::vector<int64_t> Gguf::integers(std::string_view key) const {
  std::vector<int64_t> out;
  const Value* found = value(key, true, "an array of integers",
                             [](uint32_t type) { return is_integer(type) || is_bool(type); });
  if (found == nullptr) return out;
  out.reserve(found->count);
  for (uint64_t i = 0; i < found->count; ++i)
    out.push_back(load_integer(*found, found->bytes.data() + i * width(found->type)));
  return out;
}

std::vector<double> Gguf::reals(std::string_view key) const {
  std::vector<double> out;
  const Value* found = value(key, true, "an array of f32 or f64", is_real);
  if (found == nullptr) return out;
  out.reserve(found->count);
  for (uint64_t i = 0; i < found->count; ++i)
    out.push_back(load_real(found->type, found->bytes.data() + i * width(found->type)));
  return out;
}

bool Gguf::is_array(std::string_view key) const {
  const Value* found = value(key);
  return found != nullptr && found->array;
}

std::vector<std::string_view> Gguf::keys() const {
  std::vector<std::string_view> out;
  out.reserve(values_.size());
  for (const Value& v : values_) out.push_back(v.key);
  return out;
}

}  // namespace hone::ckpt
