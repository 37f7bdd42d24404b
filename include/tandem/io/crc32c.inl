// Definitions of io/crc32c.hpp.
#pragma once
#include <array>
#include <bit>
#include <cstring>

#include "tandem/io/crc32c.hpp"

namespace TANDEM_NS::io {

namespace detail {

static_assert(std::endian::native == std::endian::little);

#if defined(__x86_64__)
// The builtin instead of <nmmintrin.h>, whose functions clang declares with attributes that differ from the caller's.
[[gnu::target("sse4.2")]] inline std::uint32_t crc32c_by_instruction(std::string_view bytes, std::uint32_t crc) {
  const char* p = bytes.data();
  std::size_t n = bytes.size();
  std::uint64_t state = ~crc;
  for (; n >= 8; n -= 8, p += 8) {
    unsigned long long x;
    std::memcpy(&x, p, 8);
    state = __builtin_ia32_crc32di(state, x);
  }
  auto narrow = static_cast<std::uint32_t>(state);
  for (; n; --n, ++p) narrow = __builtin_ia32_crc32qi(narrow, static_cast<unsigned char>(*p));
  return ~narrow;
}
#endif

// Table k advances a byte over k zero bytes more, so that a step takes eight bytes.
TANDEM_INLINE std::uint32_t crc32c_by_tables(std::string_view bytes, std::uint32_t crc) {
  static constexpr auto table = [] {
    std::array<std::array<std::uint32_t, 256>, 8> t{};
    for (std::uint32_t i = 0; i < 256; ++i) {
      t[0][i] = i;
      for (int bit = 0; bit < 8; ++bit) t[0][i] = t[0][i] >> 1 ^ (t[0][i] & 1 ? 0x82f63b78u : 0);
    }
    for (std::size_t k = 1; k < 8; ++k)
      for (std::size_t i = 0; i < 256; ++i) t[k][i] = t[0][t[k - 1][i] & 255] ^ t[k - 1][i] >> 8;
    return t;
  }();
  const char* p = bytes.data();
  std::size_t n = bytes.size();
  crc = ~crc;
  for (; n >= 8; n -= 8, p += 8) {
    std::uint64_t x;
    std::memcpy(&x, p, 8);
    x ^= crc;
    crc = 0;
    for (std::size_t k = 0; k < 8; ++k) crc ^= table[7 - k][x >> 8 * k & 255];
  }
  for (; n; --n, ++p) crc = table[0][(crc ^ static_cast<unsigned char>(*p)) & 255] ^ crc >> 8;
  return ~crc;
}

}  // namespace detail

TANDEM_INLINE std::uint32_t crc32c(std::string_view bytes, std::uint32_t crc) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("sse4.2")) [[likely]]
    return detail::crc32c_by_instruction(bytes, crc);
#endif
  return detail::crc32c_by_tables(bytes, crc);
}

}  // namespace TANDEM_NS::io
