// Elements that are only moved, by their width. For .cu files.
#pragma once
#include <cstdint>

#include "cuda/queue.hpp"

namespace TANDEM_NS::cuda {

/// 16 bytes: complex128.
struct alignas(16) WideElement {
  u64 half[2];
};
/// Calls f.operator()<T>() with a type of the dtype's width.
template <class F>
void with_width(DType d, const F& f) {
  switch (size_of(d)) {
    case 1: return f.template operator()<std::uint8_t>();
    case 2: return f.template operator()<std::uint16_t>();
    case 4: return f.template operator()<std::uint32_t>();
    case 8: return f.template operator()<u64>();
    default: return f.template operator()<WideElement>();
  }
}

}  // namespace TANDEM_NS::cuda
