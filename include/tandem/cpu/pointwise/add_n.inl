// Definitions of cpu/pointwise/add_n.hpp.
#pragma once
#include <algorithm>

#include "tandem/cpu/index/indices.hpp"
#include "tandem/cpu/parallel.hpp"
#include "tandem/cpu/pointwise/add_n.hpp"

namespace TANDEM_NS::cpu {

namespace detail {
// Adds the n elements from `at` on of all inputs.
template <class T, class W>
void add_block(const KernelCall& c, i64 at, i64 n, W* y) {
  std::copy_n(c.in[0].as<const T>() + at, n, y);
  for (std::size_t k = 1; k < c.in.size(); ++k) {
    const T* const x = c.in[k].as<const T>() + at;
    for (i64 i = 0; i < n; ++i) y[i] = static_cast<W>(y[i] + static_cast<W>(x[i]));
  }
}
// Adds the inputs block by block, so that a block of the sum stays in the cache; many of them in double the precision.
template <class T>
void add_blocks(const KernelCall& c) {
  constexpr i64 block = 2048;
  const bool many = static_cast<i64>(c.in.size()) > narrow_terms;
  T* const to = c.out[0].as<T>();
  parallel_for(c.out[0].size(), 16384, [&](i64 begin, i64 end) {
    WideSum<T> wide[block];
    for (i64 at = begin; at < end; at += block) {
      const i64 n = std::min(block, end - at);
      if (!many) add_block<T>(c, at, n, to + at);
      else
        add_block<T>(c, at, n, wide), std::transform(wide, wide + n, to + at, [](auto x) { return static_cast<T>(x); });
    }
  });
}
}  // namespace detail

TANDEM_INLINE void add_n(const KernelCall& c) {
  detail::with_number_type(c.out[0].spec->dtype, [&]<class T>(T*) { detail::add_blocks<T>(c); });
}

}  // namespace TANDEM_NS::cpu
