// Products of float64.
#pragma once
#include "tandem/cpu/gemm/driver.hpp"
#include "tandem/cpu/gemm/gemm.hpp"

namespace TANDEM_NS::cpu {

TANDEM_INLINE void gemm(const Gemm<double>& g) { product::run(g); }
template <>
TANDEM_INLINE std::size_t gemm_workspace<double>(i64 m, i64 n, i64 k) {
  return product::workspace<double>(m, n, k);
}
template <>
TANDEM_INLINE i64 packed_b_size<double>(i64 k, i64 n) {
  return product::Kernels<double>::packed_size.get()(k, n);
}
TANDEM_INLINE void pack_b(const double* b, i64 ldb, bool transposed, i64 k, i64 n, double* out) {
  product::pack(b, ldb, transposed, k, n, out);
}

}  // namespace TANDEM_NS::cpu
