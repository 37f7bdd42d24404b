// Definitions of cpu/conv/conv.hpp: the choice of kernels, and how work is divided among threads.
#pragma once
#include <cstring>
#include <numeric>
#include <vector>

#include "tandem/core/allocator.hpp"
#include "tandem/cpu/conv/conv.hpp"
#include "tandem/cpu/conv/kernels.hpp"
#include "tandem/cpu/conv/make_plan.hpp"
#include "tandem/cpu/gemm/kept.hpp"
#include "tandem/cpu/parallel.hpp"

namespace TANDEM_NS::cpu {
namespace convolution {

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
template <class T>
void run_planar(PlanOf& of, const T* x, const T* filter, bool transposed, T* y, const Epilogue<T>& e) {
  using K = Kernels<T>;
  const ConvPlan& p = of.plan;
  const i64 size = p.segments * p.k * p.columns;
  const double work = results(p) * double(size);
  of.divide(bands_wanted(work));
  const Room<T> packed(size);
  K::pack_planar.get()(p, filter, transposed, packed.data());
  const i64 room = K::planar_room.get()(p);
  share(p.items(), work, [&](i64 begin, i64 end) {
    const Room<T> band(room);
    K::planar.get()(p, x, packed.data(), y, begin, end, band.data(), e);
  });
}

/// The packed filter that a Variable keeps, or null if it has to be packed for this call. Its layout follows the taps
/// that read inside of the image.
template <class T, class F>
T* kept_filter(const ConvPlan& p, bool transposed, i64 size, PackedForms* kept, const F& pack) {
  if (!kept) return nullptr;
  PackedKey key{{i64(PackedLayout::filter), isa(), transposed, p.merged, p.groups, p.depth}};
  i64* to = key.numbers + 6;
  for (const ConvAxis& a : p.axis) {
    *to++ = a.tap_count;
    *to++ = a.tap_count ? a.taps[0].index : 0;
    *to++ = a.tap_count > 1 ? a.taps[1].index - a.taps[0].index : 0;
  }
  const i64 filter = p.window[0] * p.window[1] * p.window[2] * p.groups * p.depth * p.columns;
  return static_cast<T*>(kept->get(key, std::size_t(filter) * sizeof(T), std::size_t(size) * sizeof(T),
                                   [&](void* room) { pack(static_cast<T*>(room)); }));
}

template <class T>
void run_gather(PlanOf& of, const T* x, const T* filter, bool transposed, T* y, const Epilogue<T>& e,
                PackedForms* kept) {
  using K = Kernels<T>;
  const ConvPlan& p = of.plan;
  if (is_planar(p)) return run_planar(of, x, filter, transposed, y, e);
  const double work = results(p) * double(p.segments * p.k * p.columns * p.groups);
  of.divide(bands_wanted(work));
  const i64 panels = K::panels.get()(p), size = panels * K::panel_size.get()(p), room = of.room();
  const auto pack = [&](T* to) {
    share(panels, double(size) * 4, [&](i64 begin, i64 end) { K::pack.get()(p, filter, transposed, begin, end, to); });
  };
  T* const ready = kept_filter<T>(p, transposed, size, kept, pack);
  const Room<T> room_to_pack(ready ? 0 : size);
  T* const packed = ready ? ready : room_to_pack.data();
  const auto run_part = [&](const T* unpacked, const ConvPart& part) {
    const Room<T> band(room);
    K::gather.get()(p, x, unpacked, transposed, packed, y, part, band.data(), e);
  };
  const i64 threads = product::threads_now();
  // One thread packs what it needs next; so do several, each its own panels, of a filter that is larger than the
  // results.
  const bool by_panels = panels % threads == 0 && double(size) > results(p) * double(p.columns * p.groups);
  if (threads == 1 || by_panels)
    return share(threads, work, [&](i64 begin, i64 end) {
      run_part(ready ? nullptr : filter, {0, p.items(), begin * panels / threads, end * panels / threads});
    });
  if (!ready) pack(packed);
  share(p.items(), work, [&](i64 begin, i64 end) { run_part(nullptr, {begin, end, 0, panels}); });
}

// `sums`: how many consecutive channels are added to one result.
template <class T>
void run_depthwise(PlanOf& of, const T* x, const T* filter, i64 sums, T* y, const Epilogue<T>& e) {
  using K = Kernels<T>;
  const ConvPlan& p = of.plan;
  const double work = results(p) * double(p.segments * p.groups * p.repeat) * 4;  // its operands come from memory
  of.divide(bands_wanted(work));
  const Room<T> packed(K::depthwise_size.get()(p));
  K::pack_depthwise.get()(p, filter, packed.data());
  const i64 room = of.room(), line = sums > 1 ? p.axis[2].count * p.groups : 0;
  share(p.items(), work, [&](i64 begin, i64 end) {
    const Room<T> band(room), row(line);
    K::depthwise.get()(p, x, packed.data(), y, begin, end, sums, band.data(), row.data(), e);
  });
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
template <class T>
void forward(const Sizes& s, const T* x, const T* w, T* y, const Epilogue<T>& e, PackedForms* kept) {
  if (s.is_product()) return product_of(s.pixels_out(), s.out_channels, s.in_channels, x, w, y, e, kept);
  PlanOf of(s, sizeof(T));
  if (of.taps() == 0) return product_of<T>(s.pixels_out(), s.groups * s.out_channels, 0, nullptr, nullptr, y, e);
  s.depthwise() ? run_depthwise(of, x, w, 1, y, e) : run_gather(of, x, w, false, y, e, kept);
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

template <class T>
void backward(const Sizes& s, const T* g, const T* w, T* dx, PackedForms* kept) {
  if (s.is_product()) {
    Gemm<T> p;
    p.m = s.pixels_in(), p.n = s.in_channels, p.k = s.out_channels, p.transpose_b = true;
    p.a = g, p.lda = p.k, p.b = w, p.ldb = p.k, p.c = dx, p.ldc = p.n;
    take_packed_b(p, kept);
    return gemm(p);
  }
  std::vector<i64> r[3];
  bool all = true;
  for (int i = 0; i < 3; ++i) {
    r[i] = remainders(s.axis[i]);
    all = all && static_cast<i64>(r[i].size()) == std::min(s.axis[i].stride, s.axis[i].in);
  }
  if (!all) std::fill_n(dx, s.pixels_in() * s.groups * s.in_channels, T(0));  // what no window reads
  for (const i64 i : r[0])
    for (const i64 j : r[1])
      for (const i64 k : r[2]) {
        const i64 at[] = {i, j, k};
        PlanOf of(s, at, sizeof(T));
        s.depthwise() ? run_depthwise(of, g, w, s.out_channels, dx, {}) : run_gather(of, g, w, true, dx, {}, kept);
      }
}

/// The filter gradient as sums over chunks of the bands, whose number depends on the sizes only, as a result must.
template <class T>
class FilterGradient {
 public:
  FilterGradient(const Sizes& s, const T* x, const T* g, T* dw)
      : of_(s, sizeof(T)), p_(of_.plan), deep_(s.depthwise()), taps_(s.taps()), x_(x), g_(g), dw_(dw) {
    size_ = s.taps() * s.in_channels * s.groups * s.out_channels;
    work_ = results(p_) * double(size_) * (deep_ ? 4.0 / double(s.groups) : 1);
    const i64 most = std::min<i64>(16, i64(work_ / 1e6) + 1);
    of_.divide(most);
    chunks_ = std::clamp<i64>((4 << 20) / (size_ * i64(sizeof(T))), 1, std::min(most, p_.items()));
    // Few chunks: also by segments, each of which then copies its bands itself.
    parts_ = deep_ || chunks_ >= 8 || work_ < 1e7 ? 1 : p_.segments;
  }

  void run() {
    const Room<T> partial((chunks_ - 1) * size_);
    if (of_.taps() < taps_) {  // the other taps read only zeros
      std::fill_n(dw_, size_, T(0));
      std::fill_n(partial.data(), (chunks_ - 1) * size_, T(0));
      if (of_.taps() == 0) return;
    }
    share(chunks_ * parts_, work_, [&](i64 begin, i64 end) {
      const Room<T> band(of_.room()), panel(deep_ ? 0 : Kernels<T>::panel_room.get()(p_));
      for (i64 i = begin; i < end; ++i) {
        const i64 chunk = i / parts_;
        one(chunk, i % parts_, chunk ? partial.data() + (chunk - 1) * size_ : dw_, band.data(), panel.data());
      }
    });
    for (i64 c = 1; c < chunks_; ++c)
      for (i64 i = 0; i < size_; ++i) dw_[i] += partial.data()[(c - 1) * size_ + i];
  }

 private:
  void one(i64 chunk, i64 part, T* to, T* band, T* panel) const {
    const i64 begin = chunk * p_.items() / chunks_, end = (chunk + 1) * p_.items() / chunks_;
    if (deep_) {
      std::memset(static_cast<void*>(to), 0, static_cast<std::size_t>(size_) * sizeof(T));
      return Kernels<T>::correlate_depthwise.get()(p_, x_, g_, to, begin, end, band);
    }
    Kernels<T>::correlate.get()(p_, x_, g_, to, begin, end, part * p_.segments / parts_,
                                (part + 1) * p_.segments / parts_, true, band, panel);
  }

  PlanOf of_;
  const ConvPlan& p_;
  const bool deep_;
  const i64 taps_;
  const T *const x_, *const g_;
  T* const dw_;
  i64 size_, chunks_, parts_;
  double work_;
};

template <class T>
void filter_gradient(const Sizes& s, const T* x, const T* g, T* dw) {
  if (s.is_product()) {
    Gemm<T> p;
    p.m = s.in_channels, p.n = s.out_channels, p.k = s.pixels_out(), p.transpose_a = true;
    p.a = x, p.lda = p.m, p.b = g, p.ldb = p.n, p.c = dw, p.ldc = p.n;
    return gemm(p);
  }
  FilterGradient<T>(s, x, g, dw).run();
}

template <class T>
void convolve(const KernelCall& c, const rules::ConvAttrs& a, FusedActivation activation) {
  const Operand &x = c.in[0], &w = c.in[1], &y = c.out[0];
  const auto vector = [&](std::size_t i) { return c.in.size() > i ? c.in[i].as<const T>() : nullptr; };
  const Epilogue<T> e{activation, vector(2), vector(3), vector(4)};
  if (x.size() == 0 || w.size() == 0)
    return product_of<T>(y.size() / y.shape().dim(-1), y.shape().dim(-1), 0, nullptr, nullptr, y.as<T>(), e);
  forward(sizes_of(a, x.shape(), w.shape()), x.as<const T>(), w.as<const T>(), y.as<T>(), e, c.packed);
}
inline void convolve(const KernelCall& c, const rules::ConvAttrs& a, FusedActivation activation) {
  if (c.out[0].size() == 0) return;
  c.out[0].spec->dtype == DType::float64 ? convolve<double>(c, a, activation) : convolve<float>(c, a, activation);
}
inline void clear(const Operand& y) { std::memset(y.data, 0, y.spec->bytes()); }

}  // namespace convolution

TANDEM_INLINE void conv(const KernelCall& c) {
  convolution::convolve(c, c.attrs.get<rules::ConvAttrs>(), FusedActivation::none);
}
TANDEM_INLINE void fused_conv(const KernelCall& c) {
  const auto& a = c.attrs.get<rules::FusedConvAttrs>();
  convolution::convolve(c, a, a.activation);
}
TANDEM_INLINE void conv_transpose(const KernelCall& c) {
  const Operand &g = c.in[0], &w = c.in[1], &dx = c.out[0];
  if (dx.size() == 0) return;
  if (g.size() == 0 || w.size() == 0) return convolution::clear(dx);
  const auto s = convolution::sizes_of(c.attrs.get<rules::ConvAttrs>(), dx.shape(), w.shape());
  if (dx.spec->dtype == DType::float64)
    convolution::backward(s, g.as<double>(), w.as<double>(), dx.as<double>(), c.packed);
  else convolution::backward(s, g.as<float>(), w.as<float>(), dx.as<float>(), c.packed);
}
TANDEM_INLINE void conv_filter_grad(const KernelCall& c) {
  const Operand &x = c.in[0], &g = c.in[1], &dw = c.out[0];
  if (dw.size() == 0) return;
  if (x.size() == 0 || g.size() == 0) return convolution::clear(dw);
  const auto s = convolution::sizes_of(c.attrs.get<rules::ConvAttrs>(), x.shape(), dw.shape());
  if (dw.spec->dtype == DType::float64)
    convolution::filter_gradient(s, x.as<double>(), g.as<double>(), dw.as<double>());
  else convolution::filter_gradient(s, x.as<float>(), g.as<float>(), dw.as<float>());
}

}  // namespace TANDEM_NS::cpu
