// Batched products.
#pragma once
#include <algorithm>
#include <complex>

#include "tandem/cpu/gemm/kept.hpp"
#include "tandem/cpu/gemm/matmul.hpp"
#include "tandem/cpu/parallel.hpp"

namespace TANDEM_NS::cpu {

namespace detail {

inline std::size_t round64(std::size_t n) { return (n + 63) / 64 * 64; }

// The matrices of both operands for each matrix of the output.
struct Batches {
  i64 count = 1, a_step = 0, b_step = 0;  // steps, if both are regular
  bool regular = true;
  i64 m, n, k;
  int axes;
  i64 size[max_rank], a_stride[max_rank], b_stride[max_rank];

  Batches(const Shape& a, const Shape& b, const Shape& c, const MatmulFlags& f)
      : m(c.dim(-2)), n(c.dim(-1)), k(a.dim(f.transpose_a ? -2 : -1)), axes(c.rank() - 2) {
    strides(a, a_stride, c);
    strides(b, b_stride, c);
    for (int i = 0; i < axes; ++i) {
      size[i] = c.dim(i);
      count *= c.dim(i);
    }
  }
  /// Computes the operands' offsets, in elements, for output matrix `i`.
  void locate(i64 i, i64& a, i64& b) const {
    a = b = 0;
    for (int d = axes - 1; d >= 0; --d) {
      a += i % size[d] * a_stride[d];
      b += i % size[d] * b_stride[d];
      i /= size[d];
    }
  }

 private:
  void strides(const Shape& s, i64* out, const Shape& c) const {
    i64 step = s.dim(-2) * s.dim(-1);
    const int missing = c.rank() - s.rank();
    for (int i = axes - 1; i >= 0; --i) {
      const i64 d = i >= missing ? s.dim(i - missing) : 1;
      out[i] = d == 1 ? 0 : step;
      step *= d;
    }
  }
};

// True if all matrices of a are multiplied by one matrix b: one tall product.
inline bool foldable(const Shape& a, const Shape& b, const MatmulFlags& f) {
  if (f.transpose_a) return false;
  for (int i = 0; i < b.rank() - 2; ++i)
    if (b.dim(i) != 1) return false;
  return a.rank() >= b.rank();
}
inline bool conjugates(const Spec& a, bool flag) { return flag && is_complex(a.dtype); }

// Type-erased: only the single product knows the element type.
struct BatchedProduct {
  Batches batches;
  MatmulFlags flags;
  const void *a, *b;
  void* c;
  void* workspace;
  std::size_t workspace_bytes;
  PackedForms* kept;  // forms of b, if all products read one
  void (*one)(const BatchedProduct& p, i64 i, bool alone);

  void run() const {
    const i64 count = batches.count;
    if (count <= 0 || batches.m == 0 || batches.n == 0) return;
    const i64 work = std::max<i64>(1, batches.m * batches.n * std::max<i64>(batches.k, 1));
    // Small products are assigned to threads as a whole; each large one is split by gemm itself.
    const bool whole = count > 1 && work < (1 << 21);
    if (!whole) {
      for (i64 i = 0; i < count; ++i) one(*this, i, true);
      return;
    }
    parallel_for(count, std::max<i64>(1, (1 << 18) / work), [this](i64 first, i64 last) {
      for (i64 i = first; i < last; ++i) one(*this, i, false);
    });
  }
};
template <class T>
void one_product(const BatchedProduct& p, i64 i, bool alone) {
  i64 at_a, at_b;
  p.batches.locate(i, at_a, at_b);
  Gemm<T> g;
  g.m = p.batches.m, g.n = p.batches.n, g.k = p.batches.k;
  g.a = static_cast<const T*>(p.a) + at_a, g.lda = p.flags.transpose_a ? g.m : g.k;
  g.b = static_cast<const T*>(p.b) + at_b, g.ldb = p.flags.transpose_b ? g.k : g.n;
  g.c = static_cast<T*>(p.c) + i * g.m * g.n, g.ldc = g.n;
  g.transpose_a = p.flags.transpose_a, g.transpose_b = p.flags.transpose_b;
  if (alone) g.workspace = p.workspace, g.workspace_bytes = p.workspace_bytes;
  if (alone && p.batches.count == 1) take_packed_b(g, p.kept);
  gemm(g);
}

template <class T>
const void* conjugated_as(const Operand& x, char*& room) {
  T* to = reinterpret_cast<T*>(room);
  const T* from = x.as<T>();
  for (i64 i = 0, n = x.size(); i < n; ++i) to[i] = std::conj(from[i]);
  room += round64(x.spec->bytes());
  return to;
}
inline const void* conjugated(const Operand& x, char*& room) {
  return x.spec->dtype == DType::complex128 ? conjugated_as<std::complex<double>>(x, room)
                                            : conjugated_as<std::complex<float>>(x, room);
}

TANDEM_INLINE void batched_matmul(const KernelCall& c, const MatmulFlags& f, decltype(BatchedProduct::one) one) {
  Shape a = c.in[0].shape(), b = c.in[1].shape(), out = c.out[0].shape();
  char* room = static_cast<char*>(c.workspace);
  const void* const pa = conjugates(*c.in[0].spec, f.conjugate_a) ? conjugated(c.in[0], room) : c.in[0].data;
  const void* const pb = conjugates(*c.in[1].spec, f.conjugate_b) ? conjugated(c.in[1], room) : c.in[1].data;
  if (a.rank() > 2 && foldable(a, b, f)) {
    const i64 rows = out.size() == 0 ? 0 : out.size() / out.dim(-1);
    a = Shape{rows, a.dim(-1)};
    b = Shape{b.dim(-2), b.dim(-1)};
    out = Shape{rows, out.dim(-1)};
  }
  const std::size_t taken = static_cast<std::size_t>(room - static_cast<char*>(c.workspace));
  const std::size_t all = matmul_workspace(*c.in[0].spec, *c.in[1].spec, f);
  BatchedProduct{Batches(a, b, out, f),        f,           pa,       pb, c.out[0].data,
                 all > taken ? room : nullptr, all - taken, c.packed, one}
      .run();
}

template <class T>
std::size_t product_workspace(const Spec& a, const Spec& b, const MatmulFlags& f) {
  i64 m = a.shape.dim(f.transpose_a ? -1 : -2);
  const i64 k = a.shape.dim(f.transpose_a ? -2 : -1), n = b.shape.dim(f.transpose_b ? -2 : -1);
  if (a.shape.rank() > 2 && foldable(a.shape, b.shape, f)) m = k ? a.shape.size() / k : 0;
  return m == 0 || n == 0 || k == 0 ? 0 : gemm_workspace<T>(m, n, k);
}

}  // namespace detail

TANDEM_INLINE std::size_t matmul_workspace(const Spec& a, const Spec& b, const MatmulFlags& f) {
  if (a.dtype == DType::float32) return detail::product_workspace<float>(a, b, f);
  if (a.dtype == DType::float64) return detail::product_workspace<double>(a, b, f);
  return (detail::conjugates(a, f.conjugate_a) ? detail::round64(a.bytes()) : 0) +
         (detail::conjugates(b, f.conjugate_b) ? detail::round64(b.bytes()) : 0);
}

TANDEM_INLINE void matmul(const KernelCall& c, const MatmulFlags& f) {
  switch (c.out[0].spec->dtype) {
    case DType::float32: return detail::batched_matmul(c, f, &detail::one_product<float>);
    case DType::float64: return detail::batched_matmul(c, f, &detail::one_product<double>);
    case DType::complex64: return detail::batched_matmul(c, f, &detail::one_product<std::complex<float>>);
    case DType::complex128: return detail::batched_matmul(c, f, &detail::one_product<std::complex<double>>);
    case DType::int32:
    case DType::uint32:
      return detail::batched_matmul(c, f, &detail::one_product<std::int32_t>);  // signed and unsigned agree modulo 2^n
#if !TANDEM_IS_HEADER_ONLY
    case DType::float16: return detail::batched_matmul(c, f, &detail::one_product<Half>);
    case DType::bfloat16: return detail::batched_matmul(c, f, &detail::one_product<BFloat16>);
#endif
    default: return detail::batched_matmul(c, f, &detail::one_product<std::int64_t>);
  }
}

namespace detail {
template <class T>
void dense_of(const KernelCall& c, FusedActivation activation) {
  const Shape &x = c.in[0].shape(), &w = c.in[1].shape();
  Gemm<T> g;
  g.k = w.dim(0), g.n = w.dim(1);
  g.m = c.out[0].size() == 0 ? 0 : c.out[0].size() / g.n;
  if (g.m == 0) return;
  g.a = c.in[0].as<T>(), g.lda = x.dim(-1);
  g.b = c.in[1].as<T>(), g.ldb = g.n;
  g.c = c.out[0].as<T>(), g.ldc = g.n;
  g.bias = c.in.size() > 2 ? c.in[2].as<T>() : nullptr;
  g.activation = activation;
  g.workspace = c.workspace;
  g.workspace_bytes = c.workspace ? dense_workspace(*c.in[0].spec, *c.in[1].spec) : 0;
  take_packed_b(g, c.packed);
  gemm(g);
}
}  // namespace detail

TANDEM_INLINE void dense(const KernelCall& c, FusedActivation activation) {
  switch (c.out[0].spec->dtype) {
    case DType::float64: return detail::dense_of<double>(c, activation);
#if !TANDEM_IS_HEADER_ONLY
    case DType::float16: return detail::dense_of<Half>(c, activation);
    case DType::bfloat16: return detail::dense_of<BFloat16>(c, activation);
#endif
    default: return detail::dense_of<float>(c, activation);
  }
}
TANDEM_INLINE std::size_t dense_workspace(const Spec& x, const Spec& w) {
  const i64 k = w.shape.dim(0), n = w.shape.dim(1), m = k ? x.shape.size() / k : 0;
  if (m == 0 || n == 0 || dtypes::half_floating.has(x.dtype)) return 0;
  return x.dtype == DType::float64 ? gemm_workspace<double>(m, n, k) : gemm_workspace<float>(m, n, k);
}

}  // namespace TANDEM_NS::cpu
