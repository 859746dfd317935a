// CRC-32C (Castagnoli), and TFRecord's masked form of it.
#pragma once

#include <cstdint>
#include <string_view>

namespace hone {

uint32_t crc32c(std::string_view bytes);

// TFRecord stores checksums of data that may hold checksums: rotated, and a constant added.
inline uint32_t masked_crc32c(std::string_view bytes) {
  const uint32_t crc = crc32c(bytes);
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8U;
}

}  // namespace hone
