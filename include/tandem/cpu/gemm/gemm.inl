// Products of float32, integers and complex numbers.
#pragma once
#include "tandem/cpu/gemm/driver.hpp"
#include "tandem/cpu/gemm/gemm.hpp"

namespace TANDEM_NS::cpu {

TANDEM_INLINE void gemm(const Gemm<float>& g) { product::run(g); }
TANDEM_INLINE void gemm(const Gemm<std::int32_t>& g) { product::run_plain(g); }
TANDEM_INLINE void gemm(const Gemm<std::int64_t>& g) { product::run_plain(g); }
TANDEM_INLINE void gemm(const Gemm<std::complex<float>>& g) { product::run_plain(g); }
TANDEM_INLINE void gemm(const Gemm<std::complex<double>>& g) { product::run_plain(g); }
template <>
TANDEM_INLINE std::size_t gemm_workspace<float>(i64 m, i64 n, i64 k) {
  return product::workspace<float>(m, n, k);
}
template <>
TANDEM_INLINE i64 packed_b_size<float>(i64 k, i64 n) {
  return product::Kernels<float>::packed_size.get()(k, n);
}
TANDEM_INLINE void pack_b(const float* b, i64 ldb, bool transposed, i64 k, i64 n, float* out) {
  product::pack(b, ldb, transposed, k, n, out);
}

}  // namespace TANDEM_NS::cpu
