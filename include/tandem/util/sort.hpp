// stable_order(): how a stable sort arranges things, for lists that are sorted off the hot paths. Not here: the kernels
// of sort and top_k (cpu/index/sort.inl).
#pragma once
#include <cstddef>

#include "tandem/util/lean_vector.hpp"

namespace TANDEM_NS {

namespace detail {
using Before = bool (*)(const void* self, std::size_t a, std::size_t b);

/// A merge sort, compiled once for all callers.
inline LeanVector<std::size_t> merge_order(std::size_t n, Before before, const void* self) {
  LeanVector<std::size_t> from(n), to(n);
  for (std::size_t i = 0; i < n; ++i) from[i] = i;
  for (std::size_t width = 1; width < n; width *= 2) {
    for (std::size_t begin = 0; begin < n; begin += 2 * width) {
      const std::size_t middle = begin + width < n ? begin + width : n;
      const std::size_t end = middle + width < n ? middle + width : n;
      for (std::size_t a = begin, b = middle, at = begin; at < end; ++at)
        to[at] = a < middle && (b == end || !before(self, from[b], from[a])) ? from[a++] : from[b++];
    }
    from.swap(to);
  }
  return from;
}
/// The numbers below n, so arranged that before(a, b) is false for each b that precedes a; others keep their order.
template <class F>
LeanVector<std::size_t> stable_order(std::size_t n, const F& before) {
  return detail::merge_order(
      n, [](const void* f, std::size_t a, std::size_t b) { return (*static_cast<const F*>(f))(a, b); }, &before);
}

}  // namespace detail

}  // namespace TANDEM_NS
