// The matrix instructions of a warp (cuda/attention/mma.hpp), as the PTX manual lays out their fragments. All threads
// of the block must call them together.
#pragma once
#include <bit>
#include <cstdint>
#include <type_traits>

namespace emulator {

/// float32 to TF32: 10 digits, ties away from zero.
inline std::uint32_t to_tf32(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  if ((bits & 0x7f800000u) == 0x7f800000u) return bits;
  return (bits + 0x1000u) & ~0x1fffu;
}

/// c [16, 8] += a [16, k] b [k, 8]; k is 16 for two numbers of half precision in a word, 8 for one of TF32.
template <class S>
void mma(float (&c)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]) {
  constexpr bool half = sizeof(S) == 2;
  constexpr int k = half ? 16 : 8, warps = 32;
  // One of two, in turns: no thread writes the other before all have read it, as they meet once in between.
  struct Exchange {
    float left[16][k], right[k][8];
  };
  static Exchange rooms[2][warps];
  static bool turn[1024];
  Exchange& room = rooms[turn[threadIdx.x] = !turn[threadIdx.x]][threadIdx.x / 32];
  const auto number = [](std::uint32_t word, int which) {
    if constexpr (half) {
      S x;
      x.bits = static_cast<std::uint16_t>(word >> (16 * which));
      return static_cast<float>(x);
    } else {
      return std::bit_cast<float>(word);
    }
  };
  const unsigned group = threadIdx.x % 32 / 4, lane = threadIdx.x % 4;
  for (unsigned i = 0; i < 4; ++i)
    for (unsigned j = 0; j < (half ? 2u : 1u); ++j)
      room.left[group + i % 2 * 8][half ? 2 * lane + j + i / 2 * 8 : lane + i / 2 * 4] =
          number(a[i], static_cast<int>(j));
  for (unsigned i = 0; i < 2; ++i)
    for (unsigned j = 0; j < (half ? 2u : 1u); ++j)
      room.right[half ? 2 * lane + j + i * 8 : lane + i * 4][group] = number(b[i], static_cast<int>(j));
  barrier();
  for (unsigned i = 0; i < 4; ++i)
    for (int n = 0; n < k; ++n) c[i] += room.left[group + i / 2 * 8][n] * room.right[n][2 * lane + i % 2];
}

}  // namespace emulator
