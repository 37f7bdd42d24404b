// Indexed copies and scatter-adds.
#pragma once
#include <algorithm>
#include <complex>
#include <cstring>
#include <string>

#include "tandem/base/bytes.hpp"
#include "tandem/base/error.hpp"
#include "tandem/cpu/index/index.hpp"
#include "tandem/cpu/index/indices.hpp"
#include "tandem/cpu/index/nd_shape.hpp"
#include "tandem/cpu/index/rows.hpp"
#include "tandem/cpu/layout/strided_copy.hpp"
#include "tandem/cpu/parallel.hpp"

namespace TANDEM_NS::cpu {

namespace detail {

// The four counts of a gather: batches, outer elements, indices per batch, elements per row; and the size of the
// axis.
struct GatherShape {
  i64 batch = 1, outer = 1, count = 1, inner = 1, n;

  GatherShape(const Shape& x, const Shape& idx, int axis, int batch_dims) : n(x.dim(axis)) {
    for (int i = 0; i < batch_dims; ++i) batch *= x.dim(i);
    for (int i = batch_dims; i < axis; ++i) outer *= x.dim(i);
    for (int i = batch_dims; i < idx.rank(); ++i) count *= idx.dim(i);
    for (int i = axis + 1; i < x.rank(); ++i) inner *= x.dim(i);
  }
};

// Gathers rows [first, last); a row is `bytes` long. Prefetches upcoming rows.
template <class I>
void gather_rows(char* to, const char* from, const I* idx, i64 first, i64 last, std::size_t bytes, i64 end) {
  constexpr i64 ahead = 8;
  for (i64 i = first; i < last; ++i) {
    if (i + ahead < end) {
      const char* next = from + static_cast<std::size_t>(idx[i + ahead]) * bytes;
      for (std::size_t b = 0; b < bytes && b < 1024; b += 64) __builtin_prefetch(next + b);
    }
    std::memcpy(to + static_cast<std::size_t>(i) * bytes, from + static_cast<std::size_t>(idx[i]) * bytes, bytes);
  }
}
template <class I, class T>
void gather_elements(T* to, const T* from, const I* idx, i64 first, i64 last, i64 inner) {
  for (i64 i = first; i < last; ++i)
    for (i64 k = 0; k < inner; ++k) to[i * inner + k] = from[static_cast<i64>(idx[i]) * inner + k];
}
template <class I>
void gather_block(DType d, void* to, const void* from, const I* idx, i64 first, i64 last, i64 inner, i64 end) {
  const std::size_t width = size_of(d), bytes = width * static_cast<std::size_t>(inner);
  if (d == DType::string)
    return gather_elements(static_cast<Bytes*>(to), static_cast<const Bytes*>(from), idx, first, last, inner);
  if (bytes == 4)
    return gather_elements(static_cast<std::uint32_t*>(to), static_cast<const std::uint32_t*>(from), idx, first, last,
                           1);
  if (bytes == 8) return gather_elements(static_cast<u64*>(to), static_cast<const u64*>(from), idx, first, last, 1);
  gather_rows(static_cast<char*>(to), static_cast<const char*>(from), idx, first, last, bytes, end);
}

inline i64 grain_of(i64 bytes_each) { return std::max<i64>(1, (i64(1) << 17) / std::max<i64>(bytes_each, 1)); }

// Divides `pieces` groups of `count` rows among threads: body(group, first row, last row).
template <class F>
void for_row_groups(i64 pieces, i64 count, i64 row_bytes, const F& body) {
  if (count == 0) return;
  parallel_for(pieces * count, grain_of(row_bytes), [&](i64 begin, i64 end) {
    for (i64 i = begin; i < end;) {
      const i64 group = i / count, first = i % count, last = std::min(count, first + end - i);
      body(group, first, last);
      i += last - first;
    }
  });
}

template <class I>
void gather_of(const KernelCall& c, int axis, int batch_dims) {
  const Operand &x = c.in[0], &idx = c.in[1], &y = c.out[0];
  const GatherShape s(x.shape(), idx.shape(), axis, batch_dims);
  check_indices<I>(c, idx, 0, s.n);
  const i64 width = static_cast<i64>(size_of(x.spec->dtype)), row = s.inner * width;
  if (row == 0) return;
  for_row_groups(s.batch * s.outer, s.count, row, [&](i64 g, i64 first, i64 last) {
    gather_block<I>(x.spec->dtype, y.as<char>() + g * s.count * row, x.as<char>() + g * s.n * row,
                    idx.as<const I>() + g / s.outer * s.count, first, last, s.inner, s.count);
  });
}

using AddRows = void (*)(void* to, i64 rows, const void* from, const void* indices, i64 count, i64 inner);
// Type-erased: a dtype and an index type cost one loop, not one walk.
TANDEM_INLINE void gather_grad_walk(const KernelCall& c, const GatherShape& s, AddRows rows) {
  const Operand &g = c.in[0], &idx = c.in[1], &y = c.out[0];
  const auto width = static_cast<i64>(size_of(y.spec->dtype)), wide = static_cast<i64>(size_of(idx.spec->dtype));
  fill_zero(y.spec->dtype, y.data, y.size());
  const i64 groups = s.batch * s.outer;
  if (groups == 0 || s.count == 0 || s.inner == 0) return;
  const auto add = [&](i64 group) {
    rows(y.as<char>() + group * s.n * s.inner * width, s.n, g.as<const char>() + group * s.count * s.inner * width,
         idx.as<const char>() + group / s.outer * s.count * wide, s.count, s.inner);
  };
  // Threads are assigned groups, or columns of one group (by `rows`): in both cases each element has one writer and a
  // fixed order.
  if (groups == 1) return add(0);
  parallel_for(groups, grain_of(s.count * s.inner * width), [&](i64 b, i64 e) {
    for (i64 i = b; i < e; ++i) add(i);
  });
}

template <class I>
void gather_nd_of(const KernelCall& c, int batch_dims) {
  const Operand &x = c.in[0], &idx = c.in[1], &y = c.out[0];
  const NdShape s(x.shape(), idx.shape(), batch_dims);
  s.check<I>(c, idx);
  const DType d = x.spec->dtype;
  const i64 width = static_cast<i64>(size_of(d)), row = s.inner * width;
  if (row == 0) return;
  for_row_groups(s.batch, s.count, row, [&](i64 b, i64 first, i64 last) {
    for (i64 i = b * s.count + first; i < b * s.count + last; ++i) {
      const char* from = x.as<char>() + (b * s.block + s.place(idx.as<const I>() + i * s.width)) * width;
      if (d != DType::string) std::memcpy(y.as<char>() + i * row, from, static_cast<std::size_t>(row));
      else std::copy_n(reinterpret_cast<const Bytes*>(from), s.inner, y.as<Bytes>() + i * s.inner);
    }
  });
}
template <class T, class I>
void scatter_nd_of(const KernelCall& c, int indices, int updates, int batch_dims) {
  const Operand &idx = c.in[static_cast<std::size_t>(indices)], &u = c.in[static_cast<std::size_t>(updates)],
                &y = c.out[0];
  const NdShape s(y.shape(), idx.shape(), batch_dims);
  s.check<I>(c, idx);
  fill_zero(y.spec->dtype, y.data, y.size());
  if (y.size() == 0) return;
  for (i64 b = 0; b < s.batch; ++b) {
    const I* const at = idx.as<const I>() + b * s.count * s.width;
    const auto row_of = [&](i64 i) { return s.row(at + i * s.width); };
    const i64 rows = s.block / s.inner;
    const WideRows<T> wide(rows, s.inner, s.count, row_of);
    const RowSums<T> sums(y.as<T>() + b * s.block, {s.inner, 0, s.inner, 0, rows}, wide);
    for (i64 i = 0; i < s.count; ++i) sums.add(row_of(i), u.as<T>() + (b * s.count + i) * s.inner);
  }
}

// The layout outer x axis x inner, of the indexed tensor and of the indices.
struct AlongShape {
  i64 outer = 1, inner = 1, n, count;
  AlongShape(const Shape& x, const Shape& idx, int axis) : n(x.dim(axis)), count(idx.dim(axis)) {
    for (int i = 0; i < axis; ++i) outer *= x.dim(i);
    for (int i = axis + 1; i < x.rank(); ++i) inner *= x.dim(i);
  }
  // Calls f(position in the indices, position in the indexed tensor), row by row for one outer index.
  template <class I, class F>
  void walk(const I* idx, i64 o, const F& f) const {
    for (i64 j = 0; j < count; ++j)
      for (i64 k = 0; k < inner; ++k) {
        const i64 at = (o * count + j) * inner + k, i = static_cast<i64>(idx[at]);
        f(at, (o * n + (i < 0 ? i + n : i)) * inner + k);
      }
  }
};
template <class T, class I>
void take_along_of(const KernelCall& c, int axis) {
  const AlongShape s(c.in[0].shape(), c.in[1].shape(), axis);
  check_indices<I>(c, c.in[1], -s.n, s.n);
  const T* from = c.in[0].as<const T>();
  T* to = c.out[0].as<T>();
  parallel_for(s.outer, grain_of(s.count * s.inner * static_cast<i64>(sizeof(T))), [&](i64 b, i64 e) {
    for (i64 o = b; o < e; ++o) s.walk(c.in[1].as<const I>(), o, [&](i64 at, i64 place) { to[at] = from[place]; });
  });
}
template <class T, class I>
void take_along_grad_of(const KernelCall& c, int axis) {
  const AlongShape s(c.out[0].shape(), c.in[1].shape(), axis);
  check_indices<I>(c, c.in[1], -s.n, s.n);
  fill_zero(c.out[0].spec->dtype, c.out[0].data, c.out[0].size());
  const T* from = c.in[0].as<const T>();
  T* to = c.out[0].as<T>();
  parallel_for(s.outer, grain_of(s.count * s.inner * static_cast<i64>(sizeof(T))), [&](i64 b, i64 e) {
    for (i64 o = b; o < e; ++o) {
      const i64 size = s.n * s.inner, count = s.count * s.inner;
      const I* const idx = c.in[1].as<const I>() + o * count;
      const WideRows<T> wide(size, 1, count, [&](i64 k) {
        return (static_cast<i64>(idx[k]) + (idx[k] < 0 ? s.n : 0)) * s.inner + k % s.inner;
      });
      const RowSums<T> sums(to + o * size, {1, 0, 1, 0, size}, wide);
      s.walk(c.in[1].as<const I>(), o, [&](i64 at, i64 place) { sums.add(place - o * size, from + at); });
    }
  });
}
template <class T, class I>
void one_hot_of(const KernelCall& c, int axis) {
  const Shape& y = c.out[0].shape();
  const T on = *c.in[1].as<const T>(), off = *c.in[2].as<const T>();
  const I* idx = c.in[0].as<const I>();
  const i64 depth = y.dim(axis);
  i64 inner = 1;
  for (int i = axis + 1; i < y.rank(); ++i) inner *= y.dim(i);
  T* to = c.out[0].as<T>();
  std::fill_n(to, c.out[0].size(), off);
  for (i64 i = 0, n = c.in[0].size(); i < n; ++i)
    if (const i64 k = static_cast<i64>(idx[i]); k >= 0 && k < depth)
      to[(i / inner * depth + k) * inner + i % inner] = on;
}

template <class I>
using Pointee = std::remove_pointer_t<I>;

}  // namespace detail

TANDEM_INLINE void gather(const KernelCall& c, int axis, int batch_dims) {
  detail::with_index_type(c.in[1],
                          [&](auto i) { detail::gather_of<detail::Pointee<decltype(i)>>(c, axis, batch_dims); });
}
TANDEM_INLINE void gather_grad(const KernelCall& c, int axis, int batch_dims) {
  const detail::GatherShape s(c.out[0].shape(), c.in[1].shape(), axis, batch_dims);
  detail::with_index_type(c.in[1], [&](auto i) {
    using I = detail::Pointee<decltype(i)>;
    detail::check_indices<I>(c, c.in[1], 0, s.n);
    detail::with_number_type(c.out[0].spec->dtype, [&](auto t) {
      detail::gather_grad_walk(c, s, &detail::add_rows<detail::Pointee<decltype(t)>, I>);
    });
  });
}
TANDEM_INLINE void gather_nd(const KernelCall& c, int batch_dims) {
  detail::with_index_type(c.in[1], [&](auto i) { detail::gather_nd_of<detail::Pointee<decltype(i)>>(c, batch_dims); });
}
TANDEM_INLINE void scatter_nd(const KernelCall& c, int indices, int updates, int batch_dims) {
  detail::with_number_type(c.out[0].spec->dtype, [&](auto t) {
    detail::with_index_type(c.in[static_cast<std::size_t>(indices)], [&](auto i) {
      detail::scatter_nd_of<detail::Pointee<decltype(t)>, detail::Pointee<decltype(i)>>(c, indices, updates,
                                                                                        batch_dims);
    });
  });
}
TANDEM_INLINE void take_along(const KernelCall& c, int axis) {
  detail::with_copied_type(c.out[0].spec->dtype, [&](auto t) {
    detail::with_index_type(c.in[1], [&](auto i) {
      detail::take_along_of<detail::Pointee<decltype(t)>, detail::Pointee<decltype(i)>>(c, axis);
    });
  });
}
TANDEM_INLINE void take_along_grad(const KernelCall& c, int axis) {
  detail::with_number_type(c.out[0].spec->dtype, [&](auto t) {
    detail::with_index_type(c.in[1], [&](auto i) {
      detail::take_along_grad_of<detail::Pointee<decltype(t)>, detail::Pointee<decltype(i)>>(c, axis);
    });
  });
}
TANDEM_INLINE void reverse_sequence(const KernelCall& c, int seq, int batch) {
  const Operand &x = c.in[0], &lengths = c.in[1], &y = c.out[0];
  const Shape& shape = x.shape();
  const i64 n = shape.dim(seq), width = static_cast<i64>(size_of(x.spec->dtype));
  i64 step[max_rank];
  dense_strides(shape, step);
  StridedCopy others;
  for (int d = 0; d < shape.rank(); ++d)
    if (d != seq && d != batch) others.add(shape.dim(d), step[d], step[d]);
  // Copies elements [first, last) of sequence b, in place or from `from` on backward.
  const auto copy = [&](i64 b, i64 first, i64 last, i64 from, i64 direction) {
    StridedCopy nest = others;
    nest.add(last - first, step[seq], direction * step[seq]);
    const i64 origin = b * step[batch];
    copy_strided(nest, x.spec->dtype, y.as<char>() + (origin + first * step[seq]) * width,
                 x.as<const char>() + (origin + from * step[seq]) * width);
  };
  detail::with_index_type(lengths, [&]<class I>(I*) {
    detail::check_indices<I>(c, lengths, 0, n + 1);
    if (x.size() == 0) return;
    const i64 sequences = shape.dim(batch);
    parallel_for(sequences, detail::grain_of(x.size() / sequences * width), [&](i64 begin, i64 end) {
      for (i64 b = begin; b < end; ++b) {
        const i64 length = static_cast<i64>(lengths.as<const I>()[b]);
        copy(b, 0, length, length - 1, -1);
        copy(b, length, n, length, 1);
      }
    });
  });
}
TANDEM_INLINE void one_hot(const KernelCall& c, int axis) {
  detail::with_copied_type(c.out[0].spec->dtype, [&](auto t) {
    detail::with_index_type(c.in[0], [&](auto i) {
      detail::one_hot_of<detail::Pointee<decltype(t)>, detail::Pointee<decltype(i)>>(c, axis);
    });
  });
}

}  // namespace TANDEM_NS::cpu
