// Complex transforms. Definitions of cpu/signal/fft.hpp and rows.hpp. Not here: real ones (real.inl).
#pragma once
#include "tandem/core/allocator.hpp"
#include "tandem/cpu/parallel.hpp"
#include "tandem/cpu/signal/fft.hpp"
#include "tandem/cpu/signal/rows.hpp"
#include "tandem/cpu/simd/packs.hpp"

#define TANDEM_KERNELS "tandem/cpu/signal/fft.inc"
#include "tandem/cpu/simd/for_each_isa.inc"

namespace TANDEM_NS::cpu::fourier {

template <class T>
const Kernels<T>& kernels_of() {
  static constexpr ByIsa<const Kernels<T>*> sets = TANDEM_SETS_OF(T, fourier::kernels<T>);
  return *sets.get();
}

namespace detail {

constexpr i64 grain = 16384;            // numbers worth handing to another thread
constexpr i64 worth_splitting = 32768;  // numbers in one row

template <class T>
struct Room {
  memory::Scratch scratch;
  explicit Room(i64 count) : scratch(static_cast<std::size_t>(count) * sizeof(T)) {}
  T* data() const { return static_cast<T*>(scratch.data()); }
};

// One direction and scale of rows of one length.
template <class T>
struct Rows {
  const T* x;
  i64 xs;
  T* y;
  i64 ys, rows, n;
  T sign, scale;

  const T* in(i64 row) const { return x + row * xs; }
  T* out(i64 row) const { return y + row * ys; }
};

// Calls body(first, last) for tiles of one row, on several threads if `split`.
template <class F>
void each_tile(i64 tiles, i64 numbers, bool split, const F& body) {
  if (split) parallel_for(tiles, grain * tiles / (numbers + 1) + 1, body);
  else body(i64(0), tiles);
}
template <class T>
void planned_row(const Kernels<T>& k, const Plan<T>& plan, const Rows<T>& r, i64 row, bool split) {
  const i64 w = k.lanes, n1 = plan.n1, n2 = plan.n2, pad = (n1 + w - 1) / w * w;
  const Room<T> middle(2 * pad * n2);
  T *const re = middle.data(), *const im = re + pad * n2;
  const i64 room_size = 6 * (pad > n2 ? pad : n2) * w;
  each_tile((n2 + w - 1) / w, r.n, split, [&](i64 begin, i64 end) {
    const Room<T> room(room_size);
    for (i64 t = begin; t < end; ++t)
      k.first_round(plan.first->view, r.in(row), n2, t, plan.factors.data(), re, im, r.sign, room.data());
  });
  each_tile((n1 + w - 1) / w, r.n, split, [&](i64 begin, i64 end) {
    const Room<T> room(room_size);
    for (i64 t = begin; t < end; ++t)
      k.second_round(plan.second->view, re, im, n1, t, r.out(row), r.sign, r.scale, room.data());
  });
}
template <class T>
void convolved_row(const Plan<T>& plan, const Rows<T>& r, i64 row) {
  const i64 n = r.n, length = plan.length;
  const Room<T> room(4 * length);
  T *const a = room.data(), *const b = a + 2 * length;
  const T *const x = r.in(row), *const c = plan.chirp.data(), *const f = plan.filter.data();
  for (i64 j = 0; j < n; ++j) {
    const T re = x[2 * j], im = r.sign * x[2 * j + 1];
    a[2 * j] = re * c[2 * j] - im * c[2 * j + 1];
    a[2 * j + 1] = re * c[2 * j + 1] + im * c[2 * j];
  }
  for (i64 j = 2 * n; j < 2 * length; ++j) a[j] = T(0);
  complex_rows(a, 2 * length, b, 2 * length, 1, length, false, 1);
  for (i64 j = 0; j < length; ++j) {
    const T re = b[2 * j], im = b[2 * j + 1];
    b[2 * j] = re * f[2 * j] - im * f[2 * j + 1];
    b[2 * j + 1] = re * f[2 * j + 1] + im * f[2 * j];
  }
  complex_rows(b, 2 * length, a, 2 * length, 1, length, true, 1);
  T* const y = r.out(row);
  for (i64 k = 0; k < n; ++k) {
    const T re = a[2 * k] * r.scale, im = a[2 * k + 1] * r.scale;
    y[2 * k] = re * c[2 * k] - im * c[2 * k + 1];
    y[2 * k + 1] = r.sign * (re * c[2 * k + 1] + im * c[2 * k]);
  }
}
// A row to a lane: for short rows, of which several fit into the caches.
template <class T>
void rows_as_lanes(const Kernels<T>& k, const Rows<T>& r) {
  const Ref<Passes<T>> passes = passes_of<T>(r.n);
  const i64 w = k.lanes, groups = (r.rows + w - 1) / w;
  parallel_for(groups, grain / (r.n * w) + 1, [&](i64 begin, i64 end) {
    const Room<T> room(6 * r.n * w);
    for (i64 g = begin; g < end; ++g) {
      const i64 first = g * w, count = r.rows - first < w ? r.rows - first : w;
      k.rows(passes->view, r.in(first), r.xs, r.out(first), r.ys, count, r.sign, r.scale, room.data());
    }
  });
}
template <class T>
void each_row(const Kernels<T>& k, const Plan<T>& plan, const Rows<T>& r) {
  const bool split = r.n >= worth_splitting && r.rows < 8;
  const auto some = [&](i64 begin, i64 end) {
    for (i64 i = begin; i < end; ++i) {
      if (plan.n1) planned_row(k, plan, r, i, split);
      else convolved_row(plan, r, i);
    }
  };
  if (split) some(0, r.rows);
  else parallel_for(r.rows, grain / r.n + 1, some);
}
// Whether the packs of both rounds have less than 4 of 5 lanes in use.
template <class T>
bool wastes_lanes(const Plan<T>& plan, i64 w) {
  const i64 packs = (plan.n2 + w - 1) / w * plan.n1 + (plan.n1 + w - 1) / w * plan.n2;
  return 5 * plan.n < 2 * packs * w;
}

// The axis in the middle of [outer, n, inner]: columns side by side; or one by one, as rows, where n has a large prime
// factor, would not fit into the caches, or there are few columns.
template <class T>
void columns(const T* x, T* y, i64 outer, i64 n, i64 inner, bool inverse, double scale) {
  const Kernels<T>& k = kernels_of<T>();
  const i64 w = k.lanes, tiles = (inner + w - 1) / w;
  const T sign = inverse ? T(-1) : T(1), factor = static_cast<T>(scale);
  const bool together = is_smooth(n) && (inner >= w || n <= 64) && n <= 8192;
  const Ref<Passes<T>> passes = together ? passes_of<T>(n) : Ref<Passes<T>>();
  parallel_for(outer * tiles, grain / (n * w) + 1, [&](i64 begin, i64 end) {
    const Room<T> room(passes ? 6 * n * w : 4 * n);
    for (i64 i = begin; i < end; ++i) {
      const i64 from = i % tiles * w, width = inner - from < w ? inner - from : w;
      const i64 at = 2 * (i / tiles * n * inner + from);
      if (passes) {
        k.columns(passes->view, x + at, y + at, inner, width, sign, factor, room.data());
        continue;
      }
      T *const a = room.data(), *const b = a + 2 * n;
      for (i64 l = 0; l < width; ++l) {
        for (i64 j = 0; j < n; ++j)
          for (i64 part = 0; part < 2; ++part) a[2 * j + part] = x[at + 2 * (j * inner + l) + part];
        complex_rows(a, 2 * n, b, 2 * n, 1, n, inverse, scale);
        for (i64 j = 0; j < n; ++j)
          for (i64 part = 0; part < 2; ++part) y[at + 2 * (j * inner + l) + part] = b[2 * j + part];
      }
    }
  });
}
template <class T>
void fft(const KernelCall& c, int axis, bool inverse, double scale) {
  const Shape& s = c.in[0].shape();
  i64 outer = 1, inner = 1;
  for (int d = 0; d < axis; ++d) outer *= s.dim(d);
  for (int d = axis + 1; d < s.rank(); ++d) inner *= s.dim(d);
  const i64 n = s.dim(axis);
  if (outer * n * inner == 0) return;
  const T* const x = c.in[0].as<const T>();
  T* const y = c.out[0].as<T>();
  if (inner == 1) complex_rows(x, 2 * n, y, 2 * n, outer, n, inverse, scale);
  else columns(x, y, outer, n, inner, inverse, scale);
}

}  // namespace detail

template <class T>
void complex_rows(const T* x, i64 xs, T* y, i64 ys, i64 rows, i64 n, bool inverse, double scale) {
  if (rows == 0 || n == 0) return;
  const Kernels<T>& k = kernels_of<T>();
  const detail::Rows<T> r{x, xs, y, ys, rows, n, inverse ? T(-1) : T(1), static_cast<T>(scale)};
  const i64 w = k.lanes;
  if (is_smooth(n) && (n < 2 * w || (rows >= w && n <= 8 * w))) return detail::rows_as_lanes(k, r);
  const Ref<Plan<T>> plan = plan_of<T>(n, k.lanes);
  const bool lanes = plan->n1 && rows >= w && n <= 128 * w && detail::wastes_lanes(*plan, w);
  lanes ? detail::rows_as_lanes(k, r) : detail::each_row(k, *plan, r);
}

}  // namespace TANDEM_NS::cpu::fourier

namespace TANDEM_NS::cpu {

TANDEM_INLINE void fft(const KernelCall& c, int axis, bool inverse, double scale) {
  if (c.in[0].spec->dtype == DType::complex128) fourier::detail::fft<double>(c, axis, inverse, scale);
  else fourier::detail::fft<float>(c, axis, inverse, scale);
}

}  // namespace TANDEM_NS::cpu
