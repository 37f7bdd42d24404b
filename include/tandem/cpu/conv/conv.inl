// Definitions of cpu/conv/conv.hpp: the choice of kernels, and how work is divided among threads.
#pragma once
#include <cstring>

#include "tandem/cpu/conv/conv.hpp"
#include "tandem/cpu/conv/filter_gradient.hpp"
#include "tandem/cpu/conv/half.hpp"
#include "tandem/cpu/conv/work.hpp"

namespace TANDEM_NS::cpu {
namespace convolution {

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
    K::gather.get()(p, {.x = x,
                        .filter = unpacked,
                        .transposed = transposed,
                        .packed = packed,
                        .y = y,
                        .part = part,
                        .room = band.data(),
                        .epilogue = e});
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
    K::depthwise.get()(p, {.x = x,
                           .packed = packed.data(),
                           .y = y,
                           .begin = begin,
                           .end = end,
                           .sums = sums,
                           .room = band.data(),
                           .row = row.data(),
                           .epilogue = e});
  });
}

template <class T>
void forward(const Sizes& s, const T* x, const T* w, T* y, const Epilogue<T>& e, PackedForms* kept) {
  if (s.is_product()) return product_of(s.pixels_out(), s.out_channels, s.in_channels, x, w, y, e, kept);
  PlanOf of(s, sizeof(T));
  if (of.taps() == 0) return product_of<T>(s.pixels_out(), s.groups * s.out_channels, 0, nullptr, nullptr, y, e);
  s.depthwise() ? run_depthwise(of, x, w, 1, y, e) : run_gather(of, x, w, false, y, e, kept);
}

template <class T>
void backward(const Sizes& s, const T* g, const T* w, T* dx, PackedForms* kept) {
  if (s.is_product()) return input_product(s, g, w, dx, kept);
  each_input_plan(
      s, sizeof(T), [&] { std::fill_n(dx, s.pixels_in() * s.groups * s.in_channels, T(0)); },
      [&](PlanOf& of) {
        s.depthwise() ? run_depthwise(of, g, w, s.out_channels, dx, {}) : run_gather(of, g, w, true, dx, {}, kept);
      });
}

/// The operands of a filter gradient, read in place.
template <class T>
struct Bands {
  const T *x, *g;

  struct Scratch {
    Room<T> band, panel;
    Scratch(const PlanOf& of, bool deep) : band(of.room()), panel(deep ? 0 : Kernels<T>::panel_room.get()(of.plan)) {}
  };
  void correlate(const PlanOf& of, bool deep, T* to, const Chunk& c, Scratch& s) const {
    if (deep) return Kernels<T>::correlate_depthwise.get()(of.plan, x, g, to, c.begin, c.end, s.band.data());
    Kernels<T>::correlate.get()(of.plan, {.x = x,
                                          .g = g,
                                          .dw = to,
                                          .begin = c.begin,
                                          .end = c.end,
                                          .from = c.segment,
                                          .past = c.past,
                                          .fresh = true,
                                          .room = s.band.data(),
                                          .panel = s.panel.data()});
  }
};
template <class T>
void filter_gradient(const Sizes& s, const T* x, const T* g, T* dw) {
  if (s.is_product()) return filter_product(s, x, g, dw);
  FilterGradient<T, Bands<T>>(s, {x, g}, dw).run();
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
  if constexpr (kernels_take_half)
    if (c.out[0].is_half()) return convolve_half(c, a, activation);
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
  if constexpr (kernels_take_half)
    if (dx.is_half()) return convolution::backward_half(c, s);
  if (dx.spec->dtype == DType::float64)
    convolution::backward(s, g.as<double>(), w.as<double>(), dx.as<double>(), c.packed);
  else convolution::backward(s, g.as<float>(), w.as<float>(), dx.as<float>(), c.packed);
}
TANDEM_INLINE void conv_filter_grad(const KernelCall& c) {
  const Operand &x = c.in[0], &g = c.in[1], &dw = c.out[0];
  if (dw.size() == 0) return;
  if (x.size() == 0 || g.size() == 0) return convolution::clear(dw);
  const auto s = convolution::sizes_of(c.attrs.get<rules::ConvAttrs>(), x.shape(), dw.shape());
  if constexpr (kernels_take_half)
    if (dw.is_half()) return convolution::filter_gradient_half(c, s);
  if (dw.spec->dtype == DType::float64)
    convolution::filter_gradient(s, x.as<double>(), g.as<double>(), dw.as<double>());
  else convolution::filter_gradient(s, x.as<float>(), g.as<float>(), dw.as<float>());
}

}  // namespace TANDEM_NS::cpu
