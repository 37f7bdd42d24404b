// In the place of CUB's header: a stable sort of pairs, with its two-call protocol. As CUB's, it looks at the given
// bits of the keys alone, those of signed keys with the sign bit flipped.
#pragma once
#include <algorithm>
#include <numeric>
#include <type_traits>
#include <vector>

#include "tests/cuda/emulator/memory.hpp"
#include "tests/cuda/emulator/stream.hpp"

namespace cub {
struct DeviceRadixSort {
  template <class K, class V, class N>
  static cudaError_t SortPairs(void* room, std::size_t& bytes, const K* keys, K* sorted, const V* values,
                               V* sorted_values, N n, int begin_bit, int end_bit, cudaStream_t stream) {
    if (!room) {
      bytes = 256;
      return cudaSuccess;
    }
    emulator::submit(stream, [=] {
      const emulator::Unlocked unlocked;
      std::vector<N> order(static_cast<std::size_t>(n));
      std::iota(order.begin(), order.end(), N(0));
      std::stable_sort(order.begin(), order.end(),
                       [&](N a, N b) { return bits(keys[a], begin_bit, end_bit) < bits(keys[b], begin_bit, end_bit); });
      for (N i = 0; i < n; ++i) {
        sorted[i] = keys[order[static_cast<std::size_t>(i)]];
        sorted_values[i] = values[order[static_cast<std::size_t>(i)]];
      }
    });
    return cudaSuccess;
  }

 private:
  template <class K>
  static std::make_unsigned_t<K> bits(K key, int begin_bit, int end_bit) {
    using U = std::make_unsigned_t<K>;
    constexpr int width = 8 * sizeof(K);
    U u = static_cast<U>(key);
    if (std::is_signed_v<K>) u ^= U(1) << (width - 1);
    if (end_bit < width) u &= (U(1) << end_bit) - 1;
    return u >> begin_bit;
  }
};
}  // namespace cub
