#include "pjrt/compile_options.h"

#include <gtest/gtest.h>

namespace hone::pjrt {
namespace {

std::string hex(const std::string& bytes) {
  std::string text;
  for (const unsigned char b : bytes) {
    constexpr char kDigits[] = "0123456789abcdef";
    text += {kDigits[b >> 4], kDigits[b & 15]};
  }
  return text;
}

// Worked out by hand from the wire format: tag = field << 3 | type.
TEST(CompileOptions, AreTheseBytes) {
  const struct {
    CompileOptions options;
    const char* bytes;
  } cases[] = {
      // 3: {1: -1 (ten bytes), 4: 1, 5: 1}
      {{}, "1a0f08ffffffffffffffffff0120012801"},
      {{.replicas = 2, .partitions = 1, .device_ordinal = 3, .xla_flags = {}}, "1a06080320022801"},
      // ... 5: 4, 6: true, 19: true
      {{.replicas = 1, .partitions = 4, .device_ordinal = -1, .xla_flags = {}},
       "1a1408ffffffffffffffffff01200128043001980101"},
      // 7: {1: name, 2: {1: text | 2: bool | 3: int | 4: double}}, by name
      {{.replicas = 1,
        .partitions = 1,
        .device_ordinal = 0,
        .xla_flags = {{"t", "xy"}, {"d", 1.0}, {"b", true}, {"i", int64_t{300}}}},
       "1a06080020012801"
       "3a070a01621202"
       "1001"
       "3a0e0a01641209"
       "21000000000000f03f"
       "3a080a01691203"
       "18ac02"
       "3a090a01741204"
       "0a027879"},
  };
  for (const auto& c : cases) EXPECT_EQ(hex(serialize(c.options)), c.bytes);
}

}  // namespace
}  // namespace hone::pjrt
