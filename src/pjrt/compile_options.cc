#include "pjrt/compile_options.h"

#include <bit>
#include <string_view>

namespace hone::pjrt {
namespace {

// The three wire types that these messages use.
class Proto {
 public:
  void integer(uint32_t field, int64_t value) {  // int64 and bool
    varint(field << 3);
    varint(static_cast<uint64_t>(value));
  }
  void number(uint32_t field, double value) {
    varint(field << 3 | 1);
    const auto bits = std::bit_cast<uint64_t>(value);
    for (int shift = 0; shift < 64; shift += 8) bytes_.push_back(static_cast<char>(bits >> shift));
  }
  void text(uint32_t field, std::string_view value) {  // string, bytes and nested messages
    varint(field << 3 | 2);
    varint(value.size());
    bytes_ += value;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  void varint(uint64_t v) {
    for (; v >= 0x80; v >>= 7) bytes_.push_back(static_cast<char>(v | 0x80));
    bytes_.push_back(static_cast<char>(v));
  }
  std::string bytes_;
};

// ExecutableBuildOptionsProto
std::string build_options(const CompileOptions& o) {
  Proto p;
  p.integer(1, o.device_ordinal);
  p.integer(4, o.replicas);    // num_replicas
  p.integer(5, o.partitions);  // num_partitions
  if (o.partitions > 1) {
    p.integer(6, 1);   // use_spmd_partitioning
    p.integer(19, 1);  // use_shardy_partitioner
  }
  return p.bytes();
}

// One entry of map<string, OptionOverrideProto>.
std::string flag_entry(const std::string& name, const XlaFlag& value) {
  Proto setting;
  if (const auto* s = std::get_if<std::string>(&value)) setting.text(1, *s);
  if (const auto* b = std::get_if<bool>(&value)) setting.integer(2, *b);
  if (const auto* i = std::get_if<int64_t>(&value)) setting.integer(3, *i);
  if (const auto* d = std::get_if<double>(&value)) setting.number(4, *d);
  Proto entry;
  entry.text(1, name);
  entry.text(2, setting.bytes());
  return entry.bytes();
}

}  // namespace

std::string serialize(const CompileOptions& options) {
  Proto p;
  p.text(3, build_options(options));  // executable_build_options
  for (const auto& [name, value] : options.xla_flags)
    p.text(7, flag_entry(name, value));  // env_option_overrides
  return p.bytes();
}

}  // namespace hone::pjrt
