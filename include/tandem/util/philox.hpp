// Philox 4x32-10, the counter-based generator behind every random op, and the mapping from its words to elements.
// Plain integer arithmetic, usable in CUDA device code. The CPU's SIMD kernels (cpu/random/random.inc) and other
// devices follow these definitions bit for bit.
// Source: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
#pragma once
#include <cmath>
#include <cstdint>

#include "tandem/base/dtype.hpp"

namespace TANDEM_NS::random {

struct Words {
  std::uint32_t w[4];
};

/// The generator's round multipliers and key steps.
inline constexpr std::uint32_t philox_m0 = 0xD2511F53u, philox_m1 = 0xCD9E8D57u, philox_w0 = 0x9E3779B9u,
                               philox_w1 = 0xBB67AE85u;

/// Generates four words from a 4-word counter and a 2-word key.
TANDEM_HD Words philox(Words c, std::uint32_t k0, std::uint32_t k1) {
  for (int round = 0; round < 10; ++round) {
    const u64 a = static_cast<u64>(philox_m0) * c.w[0], b = static_cast<u64>(philox_m1) * c.w[2];
    c = {{static_cast<std::uint32_t>(b >> 32) ^ c.w[1] ^ k0, static_cast<std::uint32_t>(b),
          static_cast<std::uint32_t>(a >> 32) ^ c.w[3] ^ k1, static_cast<std::uint32_t>(a)}};
    k0 += philox_w0;
    k1 += philox_w1;
  }
  return c;
}

/// The meaning of a key tensor, int64[2]: {seed, stream}. The seed is Philox's key, the stream is the upper half of
/// its counter. The lower half counts blocks (56 bits) and redraws (8 bits), so every key has 2^56 blocks of its
/// own.
struct Stream {
  u64 seed, stream;

  TANDEM_HD Words block(u64 index, std::uint32_t redraw = 0) const {
    return philox({{static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32) | redraw << 24,
                    static_cast<std::uint32_t>(stream), static_cast<std::uint32_t>(stream >> 32)}},
                  static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32));
  }
};
TANDEM_HD Stream stream_of(const i64* key) { return {static_cast<u64>(key[0]), static_cast<u64>(key[1])}; }

// Elements are grouped by 16 blocks: element r of a group uses word r / 16 of block r % 16 (64-bit elements: words 2
// (r / 16) and the next, low half first). A register of blocks is thus stored without a transpose.
inline constexpr i64 group_blocks = 16, group32 = 64, group64 = 32;

TANDEM_HD u64 block_of(i64 element, i64 group) {
  return static_cast<u64>(element / group * group_blocks + element % group_blocks);
}
/// The 32-bit or 64-bit word of an element.
TANDEM_HD std::uint32_t word32(const Stream& s, i64 i) {
  return s.block(block_of(i, group32)).w[i % group32 / group_blocks];
}
TANDEM_HD u64 join(std::uint32_t low, std::uint32_t high) { return static_cast<u64>(high) << 32 | low; }
TANDEM_HD u64 word64(const Stream& s, i64 i) {
  const Words b = s.block(block_of(i, group64));
  return i % group64 < group_blocks ? join(b.w[0], b.w[1]) : join(b.w[2], b.w[3]);
}
/// A further 64-bit word of an element whose previous word was rejected; attempt counts from 1.
TANDEM_HD u64 redrawn64(const Stream& s, i64 i, std::uint32_t attempt) {
  const Words b = s.block(static_cast<u64>(i), attempt);
  return join(b.w[0], b.w[1]);
}

/// A number in [0, 1), a multiple of 2^-24 (2^-52 from 64 bits).
TANDEM_HD float unit(std::uint32_t w) { return static_cast<float>(w >> 8) * 0x1p-24f; }
TANDEM_HD double unit(u64 w) { return static_cast<double>(w >> 12) * 0x1p-52; }

/// An unbiased integer in [0, range): multiplies, keeps the upper half, and redraws where the lower half would favor
/// some results (Lemire, "Fast random integer generation in an interval", 2019). range >= 1.
TANDEM_HD u64 below(const Stream& s, i64 i, u64 w, u64 range) {
  unsigned __int128 m = static_cast<unsigned __int128>(w) * range;
  if (static_cast<u64>(m) < range) {
    const u64 refused = (0 - range) % range;
    for (std::uint32_t attempt = 1; static_cast<u64>(m) < refused && attempt < 256; ++attempt)
      m = static_cast<unsigned __int128>(redrawn64(s, i, attempt)) * range;
  }
  return static_cast<u64>(m >> 64);
}

/// Two independent standard normals by the Box-Muller transform: radius sqrt(-2 ln u) at an angle a (within 45
/// degrees) rotated by a number of quarter turns, so that sine and cosine need no argument reduction.
struct Pair {
  double first, second;
};
TANDEM_HD Pair polar(double u, double a, unsigned quarter) {
  const double r = std::sqrt(-2 * std::log(u)), s = r * std::sin(a), c = r * std::cos(a);
  switch (quarter) {
    case 0: return {c, s};
    case 1: return {-s, c};
    case 2: return {-c, -s};
    default: return {s, -c};
  }
}
inline constexpr double quarter_turn = 1.57079632679489661923;

/// Two normals from two 32-bit words, computed in double precision; used for float32 draws.
TANDEM_HD Pair normals32(std::uint32_t w0, std::uint32_t w1) {
  const double u = static_cast<double>(static_cast<float>(w0 >> 1) * 0x1p-31f + 0x1p-32f);
  const double a =
      static_cast<double>(static_cast<float>(static_cast<std::int32_t>(w1 << 2))) * (quarter_turn * 0x1p-32);
  return polar(u, a, w1 >> 30);
}
/// Two normals from two 64-bit words.
TANDEM_HD Pair normals64(u64 w0, u64 w1) {
  return polar(unit(w0) + 0x1p-53, (unit(w1 << 2) - 0.5) * quarter_turn, static_cast<unsigned>(w1 >> 62));
}

}  // namespace TANDEM_NS::random
