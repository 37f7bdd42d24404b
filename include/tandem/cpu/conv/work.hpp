// What convolutions of all types share: scratch, how work is divided among threads, and which plans take which path.
// For the definitions of conv.hpp.
#pragma once
#include <algorithm>
#include <numeric>
#include <vector>

#include "tandem/core/allocator.hpp"
#include "tandem/cpu/conv/kernels.hpp"
#include "tandem/cpu/conv/make_plan.hpp"
#include "tandem/cpu/gemm/kept.hpp"
#include "tandem/cpu/parallel.hpp"

namespace TANDEM_NS::cpu::convolution {

template <class T>
class Room {
 public:
  explicit Room(i64 numbers) : scratch_(static_cast<std::size_t>(scratch_product(numbers, i64(sizeof(T))))) {}
  T* data() const { return static_cast<T*>(scratch_.data()); }

 private:
  memory::Scratch scratch_;
};

/// Calls body(begin, end) for ranges of the items, which are worth `work` multiplications together.
template <class F>
void share(i64 items, double work, F body) {
  if (work > product::worth_sharing && items > 1) return parallel_parts(items, work > product::worth_waking, body);
  if (items > 0) body(i64(0), items);
}
inline double results(const ConvPlan& p) {
  return double(p.batch * p.axis[0].count) * double(p.axis[1].count * p.axis[2].count);
}
// Enough bands for a few per thread, unless that makes them worthless.
inline i64 bands_wanted(double work) {
  return std::min<i64>(4 * product::threads_now(), i64(work / product::worth_sharing));
}

// For so few results for each pixel lanes are pixels rather than channels, if sums are not too long to be added up in
// one go.
inline constexpr i64 max_planar = 4, max_planar_sum = 4096;
inline bool is_planar(const ConvPlan& p) {
  return p.groups == 1 && p.columns <= max_planar && p.segments * p.k <= max_planar_sum;
}

// The remainders by the stride of the positions that windows read.
inline std::vector<i64> remainders(const WindowAxis& a) {
  std::vector<i64> found;
  const i64 period = a.stride / std::gcd(a.stride, a.dilation);  // those of so many taps differ
  for (i64 k = 0; k < std::min(a.window, period); ++k) {
    const i64 r = ((k * a.dilation - a.before) % a.stride + a.stride) % a.stride;
    i64 taps = 0;
    if (r < a.in) each_tap(a, r, [&](const ConvTap&) { ++taps; });
    if (taps) found.push_back(r);
  }
  return found;
}

/// Calls f(plan) for the plans of a convolution's input gradient; before them clear(), if there are positions that no
/// window reads.
template <class Clear, class F>
void each_input_plan(const Sizes& s, std::size_t element, Clear clear, F f) {
  std::vector<i64> r[3];
  bool all = true;
  for (int i = 0; i < 3; ++i) {
    r[i] = remainders(s.axis[i]);
    all = all && static_cast<i64>(r[i].size()) == std::min(s.axis[i].stride, s.axis[i].in);
  }
  if (!all) clear();
  for (const i64 i : r[0])
    for (const i64 j : r[1])
      for (const i64 k : r[2]) {
        const i64 at[] = {i, j, k};
        PlanOf of(s, at, element);
        f(of);
      }
}

// The product of x and w, or zeros without them, as [rows, columns].
template <class T>
void product_of(i64 rows, i64 columns, i64 k, const T* x, const T* w, T* y, const Epilogue<T>& e,
                PackedForms* kept = nullptr) {
  Gemm<T> g;
  g.m = rows, g.n = columns, g.k = k;
  g.a = x, g.lda = k, g.b = w, g.ldb = columns, g.c = y, g.ldc = columns;
  g.activation = e.activation, g.bias = e.bias, g.scale = e.scale, g.offset = e.offset;
  take_packed_b(g, kept);
  gemm(g);
}
/// The input gradient of a convolution that is a product.
template <class T>
void input_product(const Sizes& s, const T* g, const T* w, T* dx, PackedForms* kept = nullptr) {
  Gemm<T> p;
  p.m = s.pixels_in(), p.n = s.in_channels, p.k = s.out_channels, p.transpose_b = true;
  p.a = g, p.lda = p.k, p.b = w, p.ldb = p.k, p.c = dx, p.ldc = p.n;
  take_packed_b(p, kept);
  gemm(p);
}
/// Its filter gradient.
template <class T>
void filter_product(const Sizes& s, const T* x, const T* g, T* dw) {
  Gemm<T> p;
  p.m = s.in_channels, p.n = s.out_channels, p.k = s.pixels_out(), p.transpose_a = true;
  p.a = x, p.lda = p.m, p.b = g, p.ldb = p.n, p.c = dw, p.ldc = p.n;
  gemm(p);
}

}  // namespace TANDEM_NS::cpu::convolution
