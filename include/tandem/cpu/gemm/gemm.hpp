// Matrix products on raw pointers: C = A * B (+ C), row-major, with bias, scale, offset and activation as an optional
// epilogue.
// Not here: tensors, batches and shape rules (ops/linalg); the micro-kernels (tile.inc, gemv.inc).
#pragma once
#include <complex>
#include <cstddef>
#include <cstdint>

#include "tandem/attrs/fused_activation.hpp"
#include "tandem/base/dtype.hpp"
#include "tandem/base/half.hpp"
#include "tandem/config.hpp"

namespace TANDEM_NS::cpu {

/// What is applied to results while they are in the cache: activation((y + bias) * scale + offset). The vectors have
/// one number for each column, and may be null.
template <class T>
struct Epilogue {
  FusedActivation activation = FusedActivation::none;
  const T *bias = nullptr, *scale = nullptr, *offset = nullptr;
  bool is_empty() const { return activation == FusedActivation::none && !bias && !scale && !offset; }
};

/// One product: C[m, n] = activation((op(A)[m, k] * op(B)[k, n] + (accumulate ? C : 0) + bias[n]) * scale[n] +
/// offset[n]).
///   A         m x k with lda >= k, or, if transpose_a, k x m with lda >= m
///   B         k x n with ldb >= n, or, if transpose_b, n x k with ldb >= k; ignored if packed_b is given
///   C         m x n with ldc >= n; overlaps neither A nor B
///   bias, scale, offset   n numbers for each row of C; may be null. scale and offset for floating T only
///   packed_b  what pack_b wrote for this k, n and T; may be null
///   workspace gemm_workspace(...) bytes, 64-byte aligned, or null: then scratch comes from the caching allocator
template <class T>
struct Gemm {
  i64 m = 0, n = 0, k = 0;
  const T* a = nullptr;
  i64 lda = 0;
  const T* b = nullptr;
  i64 ldb = 0;
  T* c = nullptr;
  i64 ldc = 0;
  bool transpose_a = false, transpose_b = false;
  bool accumulate = false;
  FusedActivation activation = FusedActivation::none;
  const T* bias = nullptr;
  const T *scale = nullptr, *offset = nullptr;
  const T* packed_b = nullptr;
  void* workspace = nullptr;
  std::size_t workspace_bytes = 0;
};

/// Computes the product, on several threads where that pays. k == 0 gives zeros (plus C, plus bias).
/// The result does not depend on the number of threads: k is never split among them, and its blocks depend on k
/// only. Rounding: each element of C is summed in the order of k, in blocks, by fused multiply-adds (baseline:
/// multiply, then add). float and double have micro-kernels for each instruction set. Integers wrap. Bias works for
/// every T, activations for floating T only.
///   throws    errors::ResourceExhaustedError if there is no memory for scratch
TANDEM_API void gemm(const Gemm<float>& g);
TANDEM_API void gemm(const Gemm<double>& g);
TANDEM_API void gemm(const Gemm<std::int32_t>& g);
TANDEM_API void gemm(const Gemm<std::int64_t>& g);
TANDEM_API void gemm(const Gemm<std::complex<float>>& g);
TANDEM_API void gemm(const Gemm<std::complex<double>>& g);

#if !TANDEM_IS_HEADER_ONLY
/// The same for half precision, without `accumulate`, `packed_b` and `workspace`: the bits of float32's result, which
/// are rounded once. No float32 copy of an operand is made; blocks of them are widened as they are packed.
TANDEM_API void gemm(const Gemm<Half>& g);
TANDEM_API void gemm(const Gemm<BFloat16>& g);
#endif

/// The bytes of scratch that gemm(g) can use, for the current number of threads and independently of the flags. A
/// smaller workspace is allowed and ignored.
template <class T>
std::size_t gemm_workspace(i64 m, i64 n, i64 k);
template <>
TANDEM_API std::size_t gemm_workspace<float>(i64 m, i64 n, i64 k);
template <>
TANDEM_API std::size_t gemm_workspace<double>(i64 m, i64 n, i64 k);

/// The number of elements that pack_b writes for a k x n matrix B.
template <class T>
i64 packed_b_size(i64 k, i64 n);
template <>
TANDEM_API i64 packed_b_size<float>(i64 k, i64 n);
template <>
TANDEM_API i64 packed_b_size<double>(i64 k, i64 n);

/// Copies B into the order in which the micro-kernels read it. Pays off when one B is used by several products.
///   b, ldb, transposed   as in Gemm
///   out                  packed_b_size<T>(k, n) numbers, 64-byte aligned. Valid only for the instruction set in use.
TANDEM_API void pack_b(const float* b, i64 ldb, bool transposed, i64 k, i64 n, float* out);
TANDEM_API void pack_b(const double* b, i64 ldb, bool transposed, i64 k, i64 n, double* out);

}  // namespace TANDEM_NS::cpu
