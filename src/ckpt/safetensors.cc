#include "ckpt/safetensors.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/error.h"
#include "base/quote.h"
#include "ckpt/cursor.h"
#include "ckpt/json_events.h"

namespace hone::ckpt {
namespace {

// The first limit is the format's; the others keep a hostile header from growing in memory.
constexpr uint64_t kLongestHeader = 100'000'000;
constexpr size_t kMostTensors = 1 << 18;
constexpr size_t kMostDims = 64;
constexpr size_t kMostMetadata = 65'536;
constexpr std::string_view kMetadataKey = "__metadata__";

struct NamedDType {
  std::string_view name;
  DType dtype;
};

constexpr NamedDType kDTypes[] = {
    {"BOOL", DType::kPred}, {"I8", DType::kS8},   {"U8", DType::kU8},   {"I32", DType::kS32},
    {"U32", DType::kU32},   {"I64", DType::kS64}, {"U64", DType::kU64}, {"F16", DType::kF16},
    {"BF16", DType::kBF16}, {"F32", DType::kF32}, {"F64", DType::kF64},
};

// In the specification, but in none of the models we run.
constexpr std::string_view kOtherDTypes[] = {"I16",     "U16",     "F8_E4M3", "F8_E5M2", "F8_E8M0",
                                             "F6_E2M3", "F6_E3M2", "F4",      "C64"};

// A tensor as the header says, before its bytes are found.
struct Claim {
  TensorView tensor;
  uint64_t begin = 0, end = 0;
};

// Builds the claims from the header's JSON; the grammar is three levels deep:
//   {name: {"dtype": text, "shape": [n...], "data_offsets": [n, n]}, "__metadata__": {text: text}}
class Header : public JsonEvents {
 public:
  Header(std::string_view file, std::string_view text)
      : JsonEvents(fmt::format("{}: the header", file)) {
    parse(text);
  }

  std::vector<Claim> claims;
  Metadata metadata;

 private:
  enum class In { kDocument, kTop, kMetadata, kTensor, kShape, kOffsets };
  enum Field : unsigned { kNone = 0, kDType = 1, kShape = 2, kOffsets = 4, kAll = 7 };

  bool start_object(size_t) override {
    if (in_ == In::kDocument) {
      in_ = In::kTop;
    } else if (in_ == In::kTop && key_ == kMetadataKey) {
      if (has_metadata_) throw FileError("{} holds {} twice", what(), kMetadataKey);
      has_metadata_ = true;
      in_ = In::kMetadata;
    } else if (in_ == In::kTop) {
      if (claims.size() == kMostTensors)
        throw FileError("{} names more than {} tensors", what(), kMostTensors);
      claims.emplace_back().tensor.name = key_;
      seen_ = field_ = kNone;
      in_ = In::kTensor;
    } else {
      unexpected("{");
    }
    return true;
  }

  bool key(std::string& name) override {
    if (in_ == In::kTensor) {
      field_ = name == "dtype"          ? kDType
               : name == "shape"        ? kShape
               : name == "data_offsets" ? kOffsets
                                        : kNone;
      if (field_ == kNone)
        throw FileError("{} has the unknown field {} in {}", what(), quote(name), place());
      if (seen_ & field_) throw FileError("{} has {} twice in {}", what(), quote(name), place());
      seen_ |= field_;
    } else if (in_ == In::kMetadata && metadata.contains(name)) {
      throw FileError("{} has the metadata key {} twice", what(), quote(name));
    } else if (in_ == In::kMetadata && metadata.size() == kMostMetadata) {
      throw FileError("{} has more than {} metadata entries", what(), kMostMetadata);
    }
    key_ = std::move(name);
    return true;
  }

  bool string(std::string& text) override {
    if (in_ == In::kMetadata)
      metadata.emplace(key_, std::move(text));
    else if (in_ == In::kTensor && field_ == kDType)
      claims.back().tensor.type.dtype = dtype_of(text);
    else
      unexpected("a string");
    return true;
  }

  bool start_array(size_t) override {
    if (in_ != In::kTensor || (field_ != kShape && field_ != kOffsets)) unexpected("[");
    in_ = field_ == kShape ? In::kShape : In::kOffsets;
    numbers_ = 0;
    return true;
  }

  bool number_unsigned(uint64_t n) override {
    Claim* claim = claims.empty() ? nullptr : &claims.back();
    if (in_ == In::kShape) {
      if (numbers_ == kMostDims)
        throw FileError("{} gives {} more than {} dimensions", what(), place(), kMostDims);
      if (n > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
        throw FileError("{} gives {} the impossible dimension {}", what(), place(), n);
      claim->tensor.type.dims.push_back(static_cast<int64_t>(n));
    } else if (in_ == In::kOffsets && numbers_ < 2) {
      (numbers_ == 0 ? claim->begin : claim->end) = n;
    } else {
      unexpected("a number");
    }
    ++numbers_;
    return true;
  }

  bool end_array() override {
    if (in_ == In::kOffsets && numbers_ != 2)
      throw FileError("{} needs two data_offsets in {}", what(), place());
    in_ = In::kTensor;
    return true;
  }

  bool end_object() override {
    if (in_ == In::kTensor && seen_ != kAll)
      throw FileError("{} lacks {} in {}", what(),
                      !(seen_ & kDType)   ? "dtype"
                      : !(seen_ & kShape) ? "shape"
                                          : "data_offsets",
                      place());
    in_ = in_ == In::kTop ? In::kDocument : In::kTop;
    return true;
  }

  std::string place() const override {
    if (in_ == In::kMetadata) return std::string(kMetadataKey);
    if (in_ == In::kDocument || in_ == In::kTop) return fmt::format("the entry {}", quote(key_));
    return fmt::format("tensor {}", quote(claims.back().tensor.name));
  }

  DType dtype_of(std::string_view name) const {
    if (const auto dtype = safetensors_dtype(name)) return *dtype;
    const bool known = std::ranges::find(kOtherDTypes, name) != std::end(kOtherDTypes);
    throw FileError("{} gives {} the {}dtype {}", what(), place(),
                    known ? "unsupported " : "unknown ", quote(name));
  }

  In in_ = In::kDocument;
  std::string key_;
  bool has_metadata_ = false;
  unsigned seen_ = kNone, field_ = kNone;  // of the tensor's record
  size_t numbers_ = 0;                     // in the array so far
};

std::string_view header_text(Cursor& cursor, std::string_view file) {
  const auto length = cursor.number<uint64_t>("the header's length");
  if (length > kLongestHeader)
    throw FileError("{} claims a header of {} bytes; a safetensors header has at most {}", file,
                    length, kLongestHeader);
  const auto bytes = cursor.take(length, "the header");
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (!text.starts_with('{'))
    throw FileError("{} is not a safetensors file: its header does not begin with {{", file);
  const size_t last = text.find_last_not_of(' ');
  if (text[last] != '}') throw FileError("{}: the header does not end with }} and spaces", file);
  return text.substr(0, last + 1);
}

void check_extent(const Claim& claim, std::string_view file, uint64_t buffer) {
  const TensorView& tensor = claim.tensor;
  if (claim.begin > claim.end || claim.end > buffer)
    throw FileError("{}: tensor {} lies at bytes {} to {} of a buffer of {}; incomplete download?",
                    file, quote(tensor.name), claim.begin, claim.end, buffer);
  uint64_t size = byte_size(tensor.type.dtype);
  bool fits = true, empty = false;
  for (const int64_t dim : tensor.type.dims) {
    fits = fits && !__builtin_mul_overflow(size, static_cast<uint64_t>(dim), &size);
    empty = empty || dim == 0;
  }
  if (!fits && !empty)
    throw FileError("{}: the dimensions of tensor {} overflow", file, quote(tensor.name));
  if (const uint64_t held = claim.end - claim.begin; held != (empty ? 0 : size))
    throw FileError("{}: tensor {} takes {} bytes but its data_offsets hold {}", file,
                    quote(tensor.name), empty ? 0 : size, held);
}

// The tensors, laid end to end, must be the buffer.
void check_cover(const std::vector<Claim>& claims, std::string_view file, uint64_t buffer) {
  std::vector<uint32_t> order(claims.size());
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::sort(order, {},
                    [&](uint32_t i) { return std::pair(claims[i].begin, claims[i].end); });
  uint64_t covered = 0;
  for (const uint32_t i : order) {
    if (claims[i].begin != covered)
      throw FileError("{}: tensor {} begins at {} of the buffer but {} bytes come before it: {}",
                      file, quote(claims[i].tensor.name), claims[i].begin, covered,
                      claims[i].begin < covered ? "tensors overlap" : "there is a hole");
    covered = claims[i].end;
  }
  if (covered != buffer)
    throw FileError("{}: {} bytes follow the last tensor", file, buffer - covered);
}

}  // namespace

std::string_view safetensors_name(DType dtype) {
  return std::ranges::find(kDTypes, dtype, &NamedDType::dtype)->name;
}

std::optional<DType> safetensors_dtype(std::string_view name) {
  const auto at = std::ranges::find(kDTypes, name, &NamedDType::name);
  return at != std::end(kDTypes) ? std::optional(at->dtype) : std::nullopt;
}

Safetensors::Safetensors(const std::filesystem::path& path)
    : map_(std::make_unique<Mmap>(path)), path_(path.string()) {
  parse(map_->bytes());
}

Safetensors::Safetensors(std::span<const std::byte> bytes, std::string name)
    : path_(std::move(name)) {
  parse(bytes);
}

void Safetensors::parse(std::span<const std::byte> file) {
  Cursor cursor(file, path_);
  Header header(path_, header_text(cursor, path_));
  const auto buffer = cursor.take(cursor.remaining(), "the buffer");
  for (const Claim& claim : header.claims) check_extent(claim, path_, buffer.size());
  check_cover(header.claims, path_, buffer.size());

  tensors_.reserve(header.claims.size());
  for (Claim& claim : header.claims) {
    claim.tensor.bytes = buffer.subspan(claim.begin, claim.end - claim.begin);
    tensors_.push_back(std::move(claim.tensor));
  }
  std::ranges::sort(tensors_, {}, &TensorView::name);
  const auto same = std::ranges::adjacent_find(tensors_, {}, &TensorView::name);
  if (same != tensors_.end())
    throw FileError("{} holds the tensor {} twice", path_, quote(same->name));
  metadata_ = std::move(header.metadata);
}

const TensorView* Safetensors::find(std::string_view name) const {
  const auto at = std::ranges::lower_bound(tensors_, name, {}, &TensorView::name);
  return at != tensors_.end() && at->name == name ? &*at : nullptr;
}

}  // namespace hone::ckpt
