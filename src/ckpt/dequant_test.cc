// Every format against values of the reference (tools/golden_gguf.py), bit for bit.
#include "ckpt/dequant.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "ckpt/expect_error.h"
#include "ckpt/half.h"
#include "ckpt/safetensors.h"

namespace hone::ckpt {
namespace {

TEST(Dequant, EqualsTheReferenceBitForBit) {
  const Safetensors golden{std::filesystem::path("tests/golden/gguf_blocks.safetensors")};
  size_t values = 0;
  for (const GgmlFormat& format : ggml_formats()) {
    SCOPED_TRACE(format.name);
    const TensorView* blocks = golden.find(fmt::format("{}.blocks", format.name));
    const TensorView* want = golden.find(fmt::format("{}.values", format.name));
    ASSERT_TRUE(blocks != nullptr && want != nullptr);
    ASSERT_EQ(blocks->type.dims.back(), static_cast<int64_t>(format.block_bytes));
    std::vector<float> wanted(static_cast<size_t>(want->type.size())), got(wanted.size());
    std::memcpy(wanted.data(), want->bytes.data(), want->bytes.size());
    // One byte off, so that an aligned load of a block would be seen by the sanitizers.
    std::vector<std::byte> shifted(blocks->bytes.size() + 1);
    std::memcpy(shifted.data() + 1, blocks->bytes.data(), blocks->bytes.size());
    dequantise(format.type, std::span(shifted).subspan(1), got);
    size_t wrong = 0;
    for (size_t i = 0; i < got.size(); ++i)
      wrong += std::bit_cast<uint32_t>(got[i]) != std::bit_cast<uint32_t>(wanted[i]) &&
               !(std::isnan(got[i]) && std::isnan(wanted[i]));
    EXPECT_EQ(wrong, 0u) << "of " << got.size();
    values += got.size();
  }
  test::report_cases("dequantised values", values, 24'000);
  test::report_cases("formats", ggml_formats().size(), 14);
}

// All 65,536 halves: the sign, exponent and fraction read by hand.
TEST(Dequant, HalvesAreExact) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const int exponent = static_cast<int>(bits >> 10 & 31);
    const double fraction = bits & 1023;
    double value =
        exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
    if (exponent == 31) value = fraction == 0 ? INFINITY : NAN;
    const float got = f16_to_f32(static_cast<uint16_t>(bits));
    EXPECT_EQ(std::signbit(got), bits >> 15 != 0) << bits;
    if (std::isnan(value))
      EXPECT_TRUE(std::isnan(got)) << bits;
    else
      EXPECT_EQ(std::abs(got), static_cast<float>(value)) << bits;
  }
}

TEST(Dequant, KnowsItsFormatsAndNoOthers) {
  for (const GgmlFormat& format : ggml_formats())
    EXPECT_EQ(find_format(static_cast<uint32_t>(format.type)), &format);
  for (const uint32_t unread : {4u, 5u, 9u, 15u, 16u, 24u, 31u, 39u, 40u, 0xffffffffu})
    EXPECT_EQ(find_format(unread), nullptr) << unread;
}

}  // namespace
}  // namespace hone::ckpt
