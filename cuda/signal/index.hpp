// The type in which a kernel counts elements: division of 32 bits takes a fifth of the time of 64. For .cu files.
#pragma once
#include <cstdint>

#include "cuda/queue.hpp"

namespace TANDEM_NS::cuda {

/// Calls f.operator()<I>() with an unsigned type for numbers up to `total`, to which a step of a grid may be added.
template <class F>
void with_index(i64 total, const F& f) {
  if (total < i64(1) << 31) f.template operator()<std::uint32_t>();
  else f.template operator()<u64>();
}

}  // namespace TANDEM_NS::cuda
