// CPU kernels of reduce_sum, reduce_max, reduce_min, reduce_any, reduce_all, reduce_prod and count_nonzero: one fold
// each.
#pragma once
#include <complex>

#include "tandem/base/bytes.hpp"
#include "tandem/cpu/reduce/call.hpp"
#include "tandem/cpu/reduce/reduce.hpp"

namespace TANDEM_NS::cpu {
namespace detail {

template <class T>
void count_of(const ReduceCall& r) {
  plain_fold<T, i64>(r, r.y.as<i64>(), 0, [](i64 n, const T& x) { return n + (x != T() ? 1 : 0); });
}

}  // namespace detail

TANDEM_INLINE void fold(const FoldKernel& k, const void* x, const Shape& shape, std::uint32_t mask, const void* param,
                        void* out, i64 parts) {
  const detail::FoldWalk walk{k, plan_reduce(shape, mask, parts), static_cast<const char*>(x),
                              static_cast<const char*>(param), static_cast<char*>(out)};
  if (shape.size() == 0) {
    i64 outputs = parts;
    for (int d = 0; d < shape.rank(); ++d)
      if (!(mask >> d & 1u)) outputs *= shape.dim(d);
    return k.clear(out, outputs);
  }
  walk.plan.inner_folded ? walk.segments() : walk.columns();
}

TANDEM_INLINE void reduce_sum(const KernelCall& c) {
  detail::with_wide_result(c, [](const KernelCall& k) { detail::ReduceCall(k).to_output<Fold::sum>(); });
}
TANDEM_INLINE void count_nonzero(const KernelCall& c) {
  const detail::ReduceCall r(c);
  switch (r.dtype()) {
    case DType::float32: return detail::count_of<float>(r);
    case DType::float64: return detail::count_of<double>(r);
    case DType::complex64: return detail::count_of<std::complex<float>>(r);
    case DType::complex128: return detail::count_of<std::complex<double>>(r);
    case DType::string:
      return detail::plain_fold<Bytes, i64>(r, r.y.as<i64>(), 0,
                                            [](i64 n, const Bytes& s) { return n + (s.view().empty() ? 0 : 1); });
    default: break;
  }
  switch (size_of(r.dtype())) {
    case 1: return detail::count_of<std::uint8_t>(r);
    case 2: return detail::count_of<std::uint16_t>(r);
    case 4: return detail::count_of<std::uint32_t>(r);
    default: return detail::count_of<std::uint64_t>(r);
  }
}

}  // namespace TANDEM_NS::cpu
