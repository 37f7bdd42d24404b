// Definitions of cpu/reduce/scan.hpp.
#pragma once
#include <complex>
#include <cstring>

#include "tandem/cpu/parallel.hpp"
#include "tandem/cpu/reduce/kernels.hpp"
#include "tandem/cpu/reduce/reduce.hpp"
#include "tandem/cpu/reduce/scan.hpp"

#define TANDEM_KERNELS "tandem/cpu/reduce/scan.inc"
#include "tandem/cpu/simd/for_each_isa.inc"

namespace TANDEM_NS::cpu {
namespace detail {

// A tensor viewed as [outer, n, inner] around the scanned axis.
struct ScanCall {
  const KernelCall& c;
  const rules::ScanAttrs& a;
  i64 outer = 1, n, inner = 1;

  explicit ScanCall(const KernelCall& call) : c(call), a(call.attrs.get<rules::ScanAttrs>()) {
    const Shape& s = c.in[0].shape();
    const int axis = resolve_axis(c.op, a.axis, s.rank());
    for (int d = 0; d < axis; ++d) outer *= s.dim(d);
    for (int d = axis + 1; d < s.rank(); ++d) inner *= s.dim(d);
    n = s.dim(axis);
  }
  DType dtype() const { return c.in[0].spec->dtype; }
  bool empty() const { return outer * n * inner == 0; }
};

template <Fold F, class T>
const ScanKernel& scan_on_set() {
  static constexpr ByIsa<const ScanKernel*> sets = TANDEM_SETS_OF(T, scan_kernel<F, T>);
  return *sets.get();
}
template <Fold F>
const ScanKernel& scan_kernel_of(DType d) {
  switch (d) {
    case DType::float32:
    case DType::complex64: return scan_on_set<F, float>();
    case DType::float64:
    case DType::complex128: return scan_on_set<F, double>();
    case DType::int32:
    case DType::uint32: return scan_on_set<F, std::int32_t>();
    case DType::int64:
    case DType::uint64: return scan_on_set<F, std::int64_t>();
    case DType::int16:
    case DType::uint16: return TANDEM_LOWEST_ISA::scan_kernel<F, std::int16_t>;
    default: return TANDEM_LOWEST_ISA::scan_kernel<F, std::int8_t>;
  }
}
template <Fold F>
void scan(ScanCall s, i64 parts) {
  if (s.empty()) return;
  const ScanKernel& k = scan_kernel_of<F>(s.dtype());
  const char* const x = s.c.in[0].as<const char>();
  char* const y = s.c.out[0].as<char>();
  const i64 width = static_cast<i64>(k.width), n = s.n, inner = s.inner * parts, grain = 16384;
  if (inner == 1)
    return parallel_for(s.outer, grain / n + 1, [&](i64 begin, i64 end) {
      k.rows(x + begin * n * width, end - begin, n, s.a.exclusive, s.a.reverse, y + begin * n * width);
    });
  constexpr i64 tile = scan_tile;
  const i64 tiles = (inner + tile - 1) / tile;
  parallel_for(s.outer * tiles, grain / (n * (inner < tile ? inner : tile)) + 1, [&](i64 begin, i64 end) {
    for (i64 i = begin; i < end; ++i) {
      const i64 from = i % tiles * tile, at = (i / tiles * n * inner + from) * width;
      k.columns(x + at, n, inner, inner - from < tile ? inner - from : tile, s.a.exclusive, s.a.reverse, y + at);
    }
  });
}

// Calls row(offset of the first element, step between elements) for each row along the axis.
template <class Row>
void each_row(const ScanCall& s, Row row) {
  parallel_for(s.outer * s.inner, 16384 / (s.n ? s.n : 1) + 1, [&](i64 begin, i64 end) {
    for (i64 i = begin; i < end; ++i) {
      const i64 first = i / s.inner * s.n * s.inner + i % s.inner;
      s.a.reverse ? row(first + (s.n - 1) * s.inner, -s.inner) : row(first, s.inner);
    }
  });
}
// W: the type of the running value, whose error grows with n. float64 for float32, at the same speed: each step waits
// for the one before.
template <class T, class W>
void linear_rows(const ScanCall& s) {
  const T *a = s.c.in[0].as<const T>(), *b = s.c.in[1].as<const T>();
  T* const y = s.c.out[0].as<T>();
  each_row(s, [&](i64 first, i64 step) {
    W value(0);
    for (i64 k = 0; k < s.n; ++k) {
      const i64 i = first + k * step;
      // Neither a * 0 nor 0 * value: the other factor may be infinite.
      value = k == 0 || a[i] == T(0) ? W(b[i]) : W(b[i]) + W(a[i]) * value;
      y[i] = static_cast<T>(value);
    }
  });
}

}  // namespace detail

TANDEM_INLINE void cumsum(const KernelCall& c) {
  const detail::ScanCall s(c);
  detail::scan<Fold::sum>(s, is_complex(s.dtype()) ? 2 : 1);
}
namespace detail {
template <class C>
void complex_products(const ScanCall& s) {
  const C* const x = s.c.in[0].as<const C>();
  C* const y = s.c.out[0].as<C>();
  each_row(s, [&](i64 first, i64 step) {
    C value(1);
    for (i64 k = 0; k < s.n; ++k) {
      const C next = value * x[first + k * step];
      y[first + k * step] = s.a.exclusive ? value : next;
      value = next;
    }
  });
}
}  // namespace detail
TANDEM_INLINE void cumprod(const KernelCall& c) {
  const detail::ScanCall s(c);
  if (s.dtype() == DType::complex64) detail::complex_products<std::complex<float>>(s);
  else if (s.dtype() == DType::complex128) detail::complex_products<std::complex<double>>(s);
  else detail::scan<Fold::prod>(s, 1);
}
TANDEM_INLINE void linear_scan(const KernelCall& c) {
  const detail::ScanCall s(c);
  switch (s.dtype()) {
    case DType::float64: return detail::linear_rows<double, double>(s);
    case DType::complex64: return detail::linear_rows<std::complex<float>, std::complex<double>>(s);
    case DType::complex128: return detail::linear_rows<std::complex<double>, std::complex<double>>(s);
    default: return detail::linear_rows<float, double>(s);
  }
}
TANDEM_INLINE void shift(const KernelCall& c) {
  const detail::ScanCall s(c);
  if (s.empty()) return;
  const std::size_t row = static_cast<std::size_t>(s.inner) * size_of(s.dtype());
  const std::size_t block = row * static_cast<std::size_t>(s.n);
  for (i64 o = 0; o < s.outer; ++o) {
    const char* const x = c.in[0].as<const char>() + static_cast<std::size_t>(o) * block;
    char* const y = c.out[0].as<char>() + static_cast<std::size_t>(o) * block;
    std::memcpy(s.a.reverse ? y : y + row, s.a.reverse ? x + row : x, block - row);
    std::memset(s.a.reverse ? y + block - row : y, 0, row);
  }
}
TANDEM_INLINE void cumulative_max(const KernelCall& c) {
  const detail::ScanCall s(c);
  const auto rows = [&]<class T>(T*) {
    detail::each_row(s, [&](i64 first, i64 step) {
      const T* const x = c.in[0].as<const T>() + first;
      T* const y = c.out[0].as<T>() + first;
      T largest = s.n ? x[0] : T(0);
      for (i64 k = 0; k < s.n; ++k) {
        const T v = x[k * step];
        largest = largest < v || v != v ? v : largest;  // NaN stays
        y[k * step] = largest;
      }
    });
  };
  if (s.dtype() == DType::float64) rows(static_cast<double*>(nullptr));
  else rows(static_cast<float*>(nullptr));
}

}  // namespace TANDEM_NS::cpu
