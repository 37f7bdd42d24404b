// Definitions of data/permutation.hpp.
#pragma once
#include <algorithm>
#include <bit>
#include <string>

#include "tandem/base/error.hpp"
#include "tandem/data/permutation.hpp"
#include "tandem/util/philox.hpp"

namespace TANDEM_NS::data {

namespace detail {

inline u64 mixed(u64 x) {
  for (int i = 0; i < 2; ++i) x = (x ^ x >> 32) * 0xd6e8feb86659fd93u;
  return x ^ x >> 32;
}

}  // namespace detail

TANDEM_INLINE Permutation::Permutation(i64 n, i64 seed, i64 stream) : n_(static_cast<u64>(n)) {
  if (n < 0)
    errors::raise<errors::InvalidArgumentError>("Permutation", "n must not be negative, but is " + std::to_string(n));
  // Halves of few bits have few functions: the orders of a small set would not be equally likely.
  constexpr int least_bits = 10;
  const int bits = std::max(least_bits, static_cast<int>(std::bit_width(n_ - (n_ > 0))));
  low_bits_ = bits / 2, high_bits_ = bits - low_bits_;
  constexpr std::uint32_t own_blocks = 0xd5;  // apart from those of random ops that have the same seed
  const random::Stream numbers{static_cast<u64>(seed), static_cast<u64>(stream)};
  for (int i = 0; i < rounds; i += 2) {
    const random::Words w = numbers.block(static_cast<u64>(i), own_blocks);
    key_[i] = random::join(w.w[0], w.w[1]), key_[i + 1] = random::join(w.w[2], w.w[3]);
  }
}
TANDEM_INLINE u64 Permutation::encrypted(u64 x) const {
  const u64 low_mask = (u64{1} << low_bits_) - 1, high_mask = (u64{1} << high_bits_) - 1;
  u64 low = x & low_mask, high = x >> low_bits_;
  for (int i = 0; i < rounds; i += 2) {
    high ^= detail::mixed(low + key_[i]) & high_mask;
    low ^= detail::mixed(high + key_[i + 1]) & low_mask;
  }
  return high << low_bits_ | low;
}
TANDEM_INLINE i64 Permutation::operator()(i64 position) const {
  u64 x = static_cast<u64>(position);
  do x = encrypted(x);
  while (x >= n_);
  return static_cast<i64>(x);
}

}  // namespace TANDEM_NS::data
