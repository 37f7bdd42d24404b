// The type in which a kernel counts elements: division of 32 bits takes a fifth of the time of 64. For .cu files.
#pragma once
#include <cstdint>

#include "cuda/queue.hpp"

namespace TANDEM_NS::cuda {

#ifdef TANDEM_CUDA_EMULATED
constexpr i64 narrow_limit = i64(1) << 12;  // so that tests reach both types
#else
constexpr i64 narrow_limit = i64(1) << 31;
#endif

/// Calls f.operator()<I>() with std::uint32_t for totals below the limit, otherwise u64. Numbers up to total plus a
/// grid's step fit I; numbers up to total fit its signed type.
template <class F>
void with_index(i64 total, const F& f, i64 limit = narrow_limit) {
  if (total < limit) f.template operator()<std::uint32_t>();
  else f.template operator()<u64>();
}

}  // namespace TANDEM_NS::cuda
