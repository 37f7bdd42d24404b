// CPU kernels of reduce_max, reduce_min, reduce_any, reduce_all and reduce_prod.
#pragma once
#include <complex>

#include "tandem/cpu/reduce/call.hpp"
#include "tandem/cpu/reduce/reduce.hpp"

namespace TANDEM_NS::cpu {

TANDEM_INLINE void reduce_max(const KernelCall& c) {
  detail::with_wide_result(c, [](const KernelCall& k) { detail::ReduceCall(k).to_output<Fold::max>(); });
}
TANDEM_INLINE void reduce_min(const KernelCall& c) {
  detail::with_wide_result(c, [](const KernelCall& k) { detail::ReduceCall(k).to_output<Fold::min>(); });
}
TANDEM_INLINE void reduce_any(const KernelCall& c) { detail::ReduceCall(c).to_output<Fold::any>(); }
TANDEM_INLINE void reduce_all(const KernelCall& c) { detail::ReduceCall(c).to_output<Fold::all>(); }
namespace detail {
template <class C>
void complex_product(const ReduceCall& r) {
  plain_fold<C, C>(r, r.y.as<C>(), C(1), [](C a, C b) { return a * b; });
}
}  // namespace detail
TANDEM_INLINE void reduce_prod(const KernelCall& c) {
  const detail::ReduceCall r(c);
  if (r.dtype() == DType::complex64) detail::complex_product<std::complex<float>>(r);
  else if (r.dtype() == DType::complex128) detail::complex_product<std::complex<double>>(r);
  else r.to_output<Fold::prod>();
}

}  // namespace TANDEM_NS::cpu
