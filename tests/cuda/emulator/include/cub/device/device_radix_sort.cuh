// In the place of CUB's header: a stable sort of pairs, with its two-call protocol.
#pragma once
#include <algorithm>
#include <numeric>
#include <vector>

#include "tests/cuda/emulator/memory.hpp"

namespace cub {
struct DeviceRadixSort {
  template <class K, class V, class N>
  static cudaError_t SortPairs(void* room, std::size_t& bytes, const K* keys, K* sorted, const V* values,
                               V* sorted_values, N n, int, int, cudaStream_t) {
    if (!room) {
      bytes = 256;
      return cudaSuccess;
    }
    const emulator::Unlocked unlocked;
    std::vector<N> order(static_cast<std::size_t>(n));
    std::iota(order.begin(), order.end(), N(0));
    std::stable_sort(order.begin(), order.end(), [&](N a, N b) { return keys[a] < keys[b]; });
    for (N i = 0; i < n; ++i) {
      sorted[i] = keys[order[static_cast<std::size_t>(i)]];
      sorted_values[i] = values[order[static_cast<std::size_t>(i)]];
    }
    return cudaSuccess;
  }
};
}  // namespace cub
