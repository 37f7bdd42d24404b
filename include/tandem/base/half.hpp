// float16 and bfloat16 as storage: 16 bits and the conversions to and from float (round to nearest even), on the host
// and in CUDA device code.
#pragma once
#include <bit>
#include <cstdint>

#include "tandem/config.hpp"

namespace TANDEM_NS {

/// IEEE 754 binary16, for storage and conversion only; it has no arithmetic.
struct Half {
  std::uint16_t bits = 0;

  Half() = default;
  TANDEM_HD explicit Half(float x) {
#ifdef __CUDA_ARCH__  // one instruction, which makes all NaN the same, and a choice, which is not a branch
    const auto f = std::bit_cast<std::uint32_t>(x);
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
    bits = x == x ? bits : static_cast<std::uint16_t>((f >> 16 & 0x8000u) | 0x7e00u | (f >> 13 & 0x3ffu));
#else
    bits = from_float(std::bit_cast<std::uint32_t>(x));
#endif
  }
  TANDEM_HD explicit operator float() const {
#ifdef __CUDA_ARCH__
    float x;
    asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
    const std::uint32_t nan = (bits & 0x8000u) << 16 | 0x7fc00000u | (bits & 0x3ffu) << 13;
    return x == x ? x : std::bit_cast<float>(nan);
#else
    return std::bit_cast<float>(to_float(bits));
#endif
  }

 private:
  static TANDEM_HD std::uint16_t from_float(std::uint32_t f) {
    const std::uint32_t sign = f >> 16 & 0x8000u, a = f & 0x7fffffffu;
    // NaN, with the upper bits of its fraction and made quiet, as the instructions of x86-64 do.
    if (a > 0x7f800000u) return static_cast<std::uint16_t>(sign | 0x7e00u | (a >> 13 & 0x3ffu));
    if (a >= 0x477ff000u) return static_cast<std::uint16_t>(sign | 0x7c00u);  // rounds to infinity
    if (a < 0x38800000u) {                                                    // subnormal half: let float round it
      const float r = std::bit_cast<float>(a) + 0.5f;  // 0.5f has ulp 2^-24, the smallest step of a half
      return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(r) - 0x3f000000u));
    }
    const std::uint32_t odd = a >> 13 & 1u;
    return static_cast<std::uint16_t>(sign | ((a - 0x38000000u + 0xfffu + odd) >> 13));
  }
  static TANDEM_HD std::uint32_t to_float(std::uint16_t h) {
    const std::uint32_t sign = (h & 0x8000u) << 16, exponent = h >> 10 & 0x1fu, fraction = h & 0x3ffu;
    if (exponent == 31) return sign | 0x7f800000u | fraction << 13 | (fraction ? 0x400000u : 0u);
    if (exponent) return sign | ((exponent + 112) << 23) | fraction << 13;
    return sign | std::bit_cast<std::uint32_t>(static_cast<float>(fraction) * 0x1p-24f);
  }
};

/// bfloat16: the upper 16 bits of a float.
struct BFloat16 {
  std::uint16_t bits = 0;

  BFloat16() = default;
  TANDEM_HD explicit BFloat16(float x) {
    const auto f = std::bit_cast<std::uint32_t>(x);
#ifdef __CUDA_ARCH__
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(x));
    bits = x == x ? bits : static_cast<std::uint16_t>(f >> 16 | 0x40u);
#else
    bits = static_cast<std::uint16_t>((f & 0x7fffffffu) > 0x7f800000u ? (f >> 16 | 0x40u)
                                                                      : (f + 0x7fffu + (f >> 16 & 1u)) >> 16);
#endif
  }
  TANDEM_HD explicit operator float() const { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }
};

}  // namespace TANDEM_NS
