// Layout kernels.
#pragma once
#include <algorithm>
#include <complex>
#include <cstring>

#include "tandem/base/bytes.hpp"
#include "tandem/cpu/layout/gpu_copy.hpp"
#include "tandem/cpu/layout/joined.hpp"
#include "tandem/cpu/layout/layout.hpp"
#include "tandem/cpu/layout/strided_copy.hpp"
#include "tandem/cpu/parallel.hpp"

namespace TANDEM_NS::cpu {

TANDEM_INLINE void copy_strided(const KernelCall& c, const StridedCopy& nest, void* to, const void* from) {
  copy_strided(c, nest, c.out[0].spec->dtype, to, from);
}
TANDEM_INLINE void copy_strided([[maybe_unused]] const KernelCall& c, const StridedCopy& nest, DType dtype, void* to,
                                const void* from) {
#if defined(TANDEM_WITH_CUDA) && TANDEM_WITH_CUDA
  if (detail::on_gpu(c)) return cuda::copy_strided(c, nest, size_of(dtype), to, from);
#endif
  copy_strided(nest, dtype, to, from);
}
TANDEM_INLINE void fill_zero(const KernelCall& c) {
  const Operand& y = c.out[0];
#if defined(TANDEM_WITH_CUDA) && TANDEM_WITH_CUDA
  if (detail::on_gpu(c)) return cuda::fill_zero(c, y.data, y.spec->bytes());
#endif
  fill_zero(y.spec->dtype, y.data, y.size());
}

TANDEM_INLINE void concat(const KernelCall& c, int axis, bool fresh) {
  const Shape& out = c.out[0].shape();
  const i64 outer = detail::product(out, 0, axis), inner = detail::product(out, axis + 1, out.rank());
  detail::Joined joined(c, c.out[0], outer, inner * out.dim(axis));
  i64 at = 0;
  for (const Operand& part : c.in) {
    const i64 length = inner * (fresh ? 1 : part.shape().dim(axis));
    const bool lies_there = outer == 1 && part.data == detail::element(c.out[0], at);  // placed by the plan
    if (!lies_there && length > 0) joined.add(part, at, length);
    at += length;
  }
  joined.concat();
}
TANDEM_INLINE void split(const KernelCall& c, int axis) {
  const Shape& in = c.in[0].shape();
  const i64 outer = detail::product(in, 0, axis), inner = detail::product(in, axis + 1, in.rank());
  detail::Joined joined(c, c.in[0], outer, inner * in.dim(axis));
  i64 at = 0;
  for (const Operand& part : c.out) {
    const i64 length = inner * part.shape().dim(axis);
    if (length > 0) joined.add(part, at, length);
    at += length;
  }
  joined.split();
}

namespace detail {
template <class T>
void conjugate(const Operand& o) {
  parallel_for(o.size(), 1 << 15, [p = o.as<std::complex<T>>()](i64 b, i64 e) {
    for (i64 i = b; i < e; ++i) p[i] = std::conj(p[i]);
  });
}
// For a size of 1, a slice's step is irrelevant, and it may be too large to compute with.
inline i64 step_of(i64 size, i64 step) { return size > 1 ? step : 1; }
}  // namespace detail
TANDEM_INLINE void transpose(const KernelCall& c, const Axes& perm, bool conjugate) {
  const Shape &in = c.in[0].shape(), &out = c.out[0].shape();
  i64 from[max_rank], to[max_rank];
  dense_strides(in, from);
  dense_strides(out, to);
  StridedCopy n;
  for (int i = 0; i < out.rank(); ++i) n.add(out.dim(i), to[i], from[perm.given() ? perm[i] : in.rank() - 1 - i]);
  copy_strided(c, n, c.out[0].data, c.in[0].data);
  if (!conjugate) return;
#if defined(TANDEM_WITH_CUDA) && TANDEM_WITH_CUDA
  if (detail::on_gpu(c)) return cuda::conjugate(c, c.out[0]);
#endif
  if (c.out[0].spec->dtype == DType::complex64) detail::conjugate<float>(c.out[0]);
  if (c.out[0].spec->dtype == DType::complex128) detail::conjugate<double>(c.out[0]);
}
TANDEM_INLINE void slice(const KernelCall& c, const i64* begin, const i64* step) {
  const Shape &in = c.in[0].shape(), &out = c.out[0].shape();
  i64 from[max_rank], to[max_rank], at = 0;
  dense_strides(in, from);
  dense_strides(out, to);
  StridedCopy n;
  for (int i = 0; i < out.rank(); ++i) {
    at += begin[i] * from[i];
    n.add(out.dim(i), to[i], from[i] * detail::step_of(out.dim(i), step[i]));
  }
  if (c.out[0].size()) copy_strided(c, n, c.out[0].data, detail::element(c.in[0], at));
}
TANDEM_INLINE void unslice(const KernelCall& c, const i64* begin, const i64* step) {
  const Shape &in = c.in[0].shape(), &out = c.out[0].shape();
  i64 from[max_rank], to[max_rank], at = 0;
  dense_strides(in, from);
  dense_strides(out, to);
  StridedCopy n;
  for (int i = 0; i < out.rank(); ++i) {
    at += begin[i] * to[i];
    n.add(in.dim(i), to[i] * detail::step_of(in.dim(i), step[i]), from[i]);
  }
  fill_zero(c);
  if (c.in[0].size()) copy_strided(c, n, detail::element(c.out[0], at), c.in[0].data);
}
namespace detail {
// Maps each element of a shape to its positions in a shape that it broadcasts to, `width` elements apart.
inline StridedCopy repeated(const Shape& in, const Shape& out, i64 width) {
  i64 from[max_rank], to[max_rank];
  dense_strides(in, from);
  dense_strides(out, to);
  StridedCopy n;
  for (int i = 0; i < out.rank(); ++i) {
    const int d = i - (out.rank() - in.rank());
    n.add(out.dim(i), to[i] * width, d < 0 || in.dim(d) == 1 ? 0 : from[d]);
  }
  return n;
}
}  // namespace detail
TANDEM_INLINE void broadcast(const KernelCall& c) {
  copy_strided(c, detail::repeated(c.in[0].shape(), c.out[0].shape(), 1), c.out[0].data, c.in[0].data);
}
TANDEM_INLINE void tile(const KernelCall& c) {
  const Shape &in = c.in[0].shape(), &out = c.out[0].shape();
  i64 from[max_rank], to[max_rank];
  dense_strides(in, from);
  dense_strides(out, to);
  StridedCopy n;
  for (int i = 0; i < out.rank(); ++i) {
    n.add(in.dim(i) ? out.dim(i) / in.dim(i) : 0, to[i] * in.dim(i), 0);
    n.add(in.dim(i), to[i], from[i]);
  }
  copy_strided(c, n, c.out[0].data, c.in[0].data);
}

namespace detail {
// Adds each element of `in`, in order, to the element that it was copied from.
template <class T>
void tile_sum_of(const Operand& in, const Operand& out) {
  const Shape &big = in.shape(), &small = out.shape();
  const int last = big.rank() - 1;
  fill_zero(out.spec->dtype, out.data, out.size());
  if (in.size() == 0) return;
  if (last < 0) {
    *out.as<T>() = *in.as<T>();
    return;
  }
  i64 stride[max_rank], at[max_rank] = {};
  dense_strides(small, stride);
  const i64 rows = in.size() / big.dim(last), width = small.dim(last);
  const T* from = in.as<T>();
  for (i64 r = 0; r < rows; ++r) {
    i64 place = 0;
    for (int i = 0; i < last; ++i) place += at[i] % small.dim(i) * stride[i];
    T* to = out.as<T>() + place;
    for (i64 copy = 0; copy < big.dim(last); copy += width, from += width)
      for (i64 i = 0; i < width; ++i) to[i] = static_cast<T>(to[i] + from[i]);
    for (int i = last - 1; i >= 0 && ++at[i] == big.dim(i); --i) at[i] = 0;
  }
}
}  // namespace detail
TANDEM_INLINE void tile_sum(const KernelCall& c) {
  switch (c.out[0].spec->dtype) {
    case DType::float32: return detail::tile_sum_of<float>(c.in[0], c.out[0]);
    case DType::float64: return detail::tile_sum_of<double>(c.in[0], c.out[0]);
    case DType::complex64: return detail::tile_sum_of<std::complex<float>>(c.in[0], c.out[0]);
    default: return detail::tile_sum_of<std::complex<double>>(c.in[0], c.out[0]);
  }
}
TANDEM_INLINE void reverse(const KernelCall& c, std::uint32_t axes) {
  i64 begin[max_rank], step[max_rank];
  for (int i = 0; i < c.in[0].shape().rank(); ++i) {
    const bool back = axes >> i & 1u;
    begin[i] = back ? c.in[0].shape().dim(i) - 1 : 0;
    step[i] = back ? -1 : 1;
  }
  slice(c, begin, step);
}
TANDEM_INLINE void roll(const KernelCall& c, int axis, i64 shift) {
  const Operand &x = c.in[0], &y = c.out[0];
  const Shape& s = x.shape();
  if (x.size() == 0) return;
  const i64 n = s.dim(axis), outer = detail::product(s, 0, axis), inner = detail::product(s, axis + 1, s.rank());
  const i64 first = (shift % n + n) % n;  // where element 0 goes
  const auto move = [&](i64 to, i64 from, i64 count) {
    if (count == 0) return;
    StridedCopy nest;
    nest.add(outer, n * inner, n * inner);
    nest.add(count * inner, 1, 1);
    copy_strided(c, nest, detail::element(y, to * inner), detail::element(x, from * inner));
  };
  move(first, 0, n - first);
  move(0, n - first, first);
}
namespace detail {
// Copies to or from the diagonals of the matrices in a shape; on the other side, their elements are packed.
struct DiagonalCopy {
  i64 batch, length, matrix, step, offset = 0;
  DiagonalCopy(const Shape& s, i64 k)
      : batch(product(s, 0, s.rank() - 2)),
        length(diagonal_length(s.dim(-2), s.dim(-1), k)),
        matrix(s.dim(-2) * s.dim(-1)),
        step(s.dim(-1) + 1) {
    if (length) offset = k < 0 ? -k * s.dim(-1) : k;
  }
  StridedCopy into() const {
    StridedCopy n;
    n.add(batch, matrix, length);
    n.add(length, step, 1);
    return n;
  }
  StridedCopy out_of() const {
    StridedCopy n;
    n.add(batch, length, matrix);
    n.add(length, 1, step);
    return n;
  }
};
}  // namespace detail
TANDEM_INLINE void diag(const KernelCall& c, i64 k) {
  const detail::DiagonalCopy d(c.out[0].shape(), k);
  fill_zero(c);
  if (d.length) copy_strided(c, d.into(), detail::element(c.out[0], d.offset), c.in[0].data);
}
TANDEM_INLINE void diag_part(const KernelCall& c, i64 k) {
  const detail::DiagonalCopy d(c.in[0].shape(), k);
  if (d.length) copy_strided(c, d.out_of(), c.out[0].data, detail::element(c.in[0], d.offset));
}
TANDEM_INLINE void set_diag(const KernelCall& c, i64 k) {
  const detail::DiagonalCopy d(c.out[0].shape(), k);
  StridedCopy all;
  all.add(c.out[0].size(), 1, 1);
  if (c.out[0].data != c.in[0].data) copy_strided(c, all, c.out[0].data, c.in[0].data);
  if (d.length) copy_strided(c, d.into(), detail::element(c.out[0], d.offset), c.in[1].data);
}
TANDEM_INLINE void complex_part(const KernelCall& c, int part) {
  const Operand& y = c.out[0];
  StridedCopy n;
  n.add(y.size(), 1, 2);
  copy_strided(c, n, y.data, c.in[0].as<char>() + part * static_cast<int>(size_of(y.spec->dtype)));
}
TANDEM_INLINE void complex_of_parts(const KernelCall& c) {
  const Shape& out = c.out[0].shape();
  const DType dtype = c.in[0].spec->dtype;
  for (int part = 0; part < 2; ++part) {
    const StridedCopy n = detail::repeated(c.in[static_cast<std::size_t>(part)].shape(), out, 2);
    copy_strided(c, n, dtype, c.out[0].as<char>() + part * static_cast<int>(size_of(dtype)),
                 c.in[static_cast<std::size_t>(part)].data);
  }
}
TANDEM_INLINE void pad(const KernelCall& c, const i64* before, const void* value) {
  const Shape &in = c.in[0].shape(), &out = c.out[0].shape();
  StridedCopy fill;
  fill.add(c.out[0].size(), 1, 0);
  copy_strided(c, fill, c.out[0].data, value);
  i64 from[max_rank], to[max_rank], at = 0;
  dense_strides(in, from);
  dense_strides(out, to);
  StridedCopy n;
  for (int i = 0; i < out.rank(); ++i) {
    at += before[i] * to[i];
    n.add(in.dim(i), to[i], from[i]);
  }
  if (c.in[0].size()) copy_strided(c, n, detail::element(c.out[0], at), c.in[0].data);
}

}  // namespace TANDEM_NS::cpu
