// CRC-32C (Castagnoli), the checksum of TFRecord and event files. By the instruction of SSE 4.2 where the CPU has it,
// by tables elsewhere.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tandem/config.hpp"

namespace TANDEM_NS::io {

/// The CRC-32C of bytes; crc32c("123456789") is 0xe3069283. `crc` is that of the bytes before them, so that
/// crc32c(b, crc32c(a)) == crc32c(a + b).
///   source  RFC 3720, appendix B.4
TANDEM_API std::uint32_t crc32c(std::string_view bytes, std::uint32_t crc = 0);

/// The form in which TFRecord files store a checksum: rotated right by 15 bits, plus a constant. (The checksum of data
/// that contain their own checksum would be the same for all data.)
constexpr std::uint32_t masked_crc32c(std::uint32_t crc) { return (crc >> 15 | crc << 17) + 0xa282ead8u; }
/// The checksum that has this masked form.
constexpr std::uint32_t unmasked_crc32c(std::uint32_t masked) {
  const std::uint32_t rotated = masked - 0xa282ead8u;
  return rotated >> 17 | rotated << 15;
}

namespace detail {
/// crc32c by tables, on every CPU.
TANDEM_API std::uint32_t crc32c_by_tables(std::string_view bytes, std::uint32_t crc = 0);
}  // namespace detail

}  // namespace TANDEM_NS::io
