// Chunk: adjacent elements that a thread reads or writes at once. For .cu files.
#pragma once
#include "tandem/config.hpp"

namespace TANDEM_NS::cuda {

/// Aligned for one access of up to 16 bytes.
template <class T, int N>
struct alignas(sizeof(T) * N > 16 ? 16 : sizeof(T) * N) Chunk {
  T at[N];
};

}  // namespace TANDEM_NS::cuda
