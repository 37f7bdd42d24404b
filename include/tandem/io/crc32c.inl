// Definitions of io/crc32c.hpp.
#pragma once
#include <array>
#include <bit>
#include <cstring>

#include "tandem/io/crc32c.hpp"

namespace TANDEM_NS::io {

namespace detail {

static_assert(std::endian::native == std::endian::little);

inline constexpr std::uint32_t crc32c_polynomial = 0x82f63b78;
// The state after a byte, by its low byte.
using Crc32cTable = std::array<std::uint32_t, 256>;
constexpr Crc32cTable crc32c_table() {
  Crc32cTable t{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    t[i] = i;
    for (int bit = 0; bit < 8; ++bit) t[i] = t[i] >> 1 ^ (t[i] & 1 ? crc32c_polynomial : 0);
  }
  return t;
}

#if defined(__x86_64__)
// The instruction takes three cycles, but one may begin each cycle: three lanes of this many bytes run side by side.
inline constexpr std::size_t crc32c_lane = 1024;
static_assert(std::has_single_bit(crc32c_lane));
// What becomes of each bit of a state after some zero bytes. The others are sums (xor) of these.
using Crc32cBits = std::array<std::uint32_t, 32>;
constexpr Crc32cBits crc32c_bits_after_lane() {
  Crc32cBits bits{};
  for (std::size_t bit = 0; bit < 32; ++bit) {
    std::uint32_t x = std::uint32_t{1} << bit;
    for (int i = 0; i < 8; ++i) x = x >> 1 ^ (x & 1 ? crc32c_polynomial : 0);
    bits[bit] = x;
  }
  for (std::size_t bytes = 1; bytes < crc32c_lane; bytes *= 2) {
    const Crc32cBits once = bits;
    for (std::uint32_t& x : bits) {
      std::uint32_t twice = 0;
      for (; x; x &= x - 1) twice ^= once[static_cast<std::size_t>(std::countr_zero(x))];
      x = twice;
    }
  }
  return bits;
}
// Table k says what byte k of a state has become after a lane of zeros.
constexpr std::array<Crc32cTable, 4> crc32c_skip_tables() {
  const Crc32cBits bits = crc32c_bits_after_lane();
  std::array<Crc32cTable, 4> t{};
  for (std::size_t k = 0; k < 4; ++k) {
    for (std::size_t bit = 0; bit < 8; ++bit) t[k][std::size_t{1} << bit] = bits[8 * k + bit];
    for (std::size_t i = 1; i < 256; ++i) t[k][i] = t[k][i & (i - 1)] ^ t[k][i & (0 - i)];
  }
  return t;
}
inline std::uint32_t crc32c_skip_lane(std::uint64_t state) {
  static constexpr std::array<Crc32cTable, 4> t = crc32c_skip_tables();
  return t[0][state & 255] ^ t[1][state >> 8 & 255] ^ t[2][state >> 16 & 255] ^ t[3][state >> 24 & 255];
}
inline unsigned long long eight_bytes(const char* p) {
  unsigned long long x;
  std::memcpy(&x, p, 8);
  return x;
}
// The builtin instead of <nmmintrin.h>, whose functions clang declares with attributes that differ from the caller's.
[[gnu::target("sse4.2")]] inline std::uint32_t crc32c_by_instruction(std::string_view bytes, std::uint32_t crc) {
  const char* p = bytes.data();
  std::size_t n = bytes.size();
  std::uint64_t state = ~crc;
  for (; n >= 3 * crc32c_lane; n -= 3 * crc32c_lane, p += 3 * crc32c_lane) {
    std::uint64_t second = 0, third = 0;
    for (const char *q = p, *end = p + crc32c_lane; q != end; q += 8) {
      state = __builtin_ia32_crc32di(state, eight_bytes(q));
      second = __builtin_ia32_crc32di(second, eight_bytes(q + crc32c_lane));
      third = __builtin_ia32_crc32di(third, eight_bytes(q + 2 * crc32c_lane));
    }
    state = crc32c_skip_lane(crc32c_skip_lane(state) ^ second) ^ third;
  }
  for (; n >= 8; n -= 8, p += 8) state = __builtin_ia32_crc32di(state, eight_bytes(p));
  auto narrow = static_cast<std::uint32_t>(state);
  for (; n; --n, ++p) narrow = __builtin_ia32_crc32qi(narrow, static_cast<unsigned char>(*p));
  return ~narrow;
}
#endif

// Table k advances a byte over k zero bytes more, so that a step takes eight bytes.
TANDEM_INLINE std::uint32_t crc32c_by_tables(std::string_view bytes, std::uint32_t crc) {
  static constexpr auto table = [] {
    std::array<Crc32cTable, 8> t{};
    t[0] = crc32c_table();
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
