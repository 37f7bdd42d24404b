// Convolutions and their gradients for operands of any type: the choice of kernels, and how work is divided among
// threads. An Access (access.hpp) knows how the operands are stored. For the definitions of conv.hpp.
#pragma once
#include <cstring>

#include "tandem/cpu/conv/access.hpp"
#include "tandem/cpu/conv/filter_gradient.hpp"
#include "tandem/cpu/conv/work.hpp"

namespace TANDEM_NS::cpu::convolution {

/// The operands and the results of a convolution or its input gradient.
template <class Access>
struct Conv {
  using T = typename Access::Number;
  using Stored = typename Access::Stored;

  const Stored *x, *filter;
  bool transposed;  // the filter's last axis is the one that is summed over
  Stored* y;
  Epilogue<T> epilogue;
  PackedForms* kept;
};

template <class Access>
void run_planar(PlanOf& of, const Conv<Access>& c) {
  using T = typename Access::Number;
  using K = Kernels<T>;
  const ConvPlan& p = of.plan;
  const i64 size = p.segments * p.k * p.columns;
  const double work = results(p) * double(size);
  of.divide(bands_wanted(work));
  const Room<T> packed(size);
  const i64 numbers = p.window[0] * p.window[1] * p.window[2] * p.depth * p.columns;
  K::pack_planar.get()(p, typename Access::Copy(c.filter, numbers).data(), c.transposed, packed.data());
  const typename Access::Bands bands(of, p.columns);
  share(bands.count(), work, [&](i64 begin, i64 end) {
    typename Access::Band band(bands);
    const Room<T> room(K::planar_room.get()(band.plan()));
    band.each(c.x, c.y, begin, end, {0, p.columns}, [&](const BandCall<T>& b) {
      K::planar.get()(band.plan(), b.x, packed.data(), b.y, b.begin, b.end, room.data(), c.epilogue);
    });
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

/// The results of a part. `packs`: the first band packs the panels.
template <class Access>
void gather_part(const typename Access::Bands& bands, const Conv<Access>& c, const ConvPart& part, bool packs,
                 typename Access::Number* packed) {
  using T = typename Access::Number;
  typename Access::Band band(bands);
  const ConvPlan& p = bands.of.plan;
  const i64 panels = Kernels<T>::panels.get()(p) / p.groups;
  const i64 wide = Kernels<T>::panel_size.get()(p) / std::max<i64>(1, p.segments * p.k);
  const auto channel = [&](i64 q) { return q / panels * p.columns + q % panels * wide; };
  const Room<T> room(band.room());
  band.each(c.x, c.y, part.begin, part.end, {channel(part.panel), channel(part.past)}, [&](const BandCall<T>& b) {
    Kernels<T>::gather.get()(band.plan(), {.x = b.x,
                                           .filter = packs && b.is_first ? c.filter : nullptr,
                                           .pack = Access::pack(),
                                           .transposed = c.transposed,
                                           .packed = packed,
                                           .y = b.y,
                                           .part = {b.begin, b.end, part.panel, part.past},
                                           .room = room.data(),
                                           .epilogue = c.epilogue});
  });
}
template <class Access>
void run_gather(PlanOf& of, const Conv<Access>& c) {
  using T = typename Access::Number;
  using K = Kernels<T>;
  const ConvPlan& p = of.plan;
  if (is_planar(p)) return run_planar(of, c);
  const double work = results(p) * double(p.segments * p.k * p.columns * p.groups);
  of.divide(bands_wanted(work));
  const i64 panels = K::panels.get()(p), size = panels * K::panel_size.get()(p);
  const auto pack = [&](T* to) {
    share(panels, double(size) * 4, [&](i64 begin, i64 end) {
      for (i64 q = begin; q < end; ++q) Access::pack()(p, c.filter, c.transposed, q, 0, p.segments, to);
    });
  };
  T* const ready = kept_filter<T>(p, c.transposed, size, Access::keeps_panels ? c.kept : nullptr, pack);
  const Room<T> room_to_pack(ready ? 0 : size);
  T* const packed = ready ? ready : room_to_pack.data();
  const typename Access::Bands bands(of, p.groups * p.columns);
  const i64 threads = product::threads_now(), count = bands.count();
  // One thread packs what it needs next; so do several, each its own panels, of a filter that is larger than the
  // results.
  const i64 parts = std::min(threads, panels);
  const bool by_panels =
      (panels % threads == 0 || count < parts) && double(size) > results(p) * double(p.columns * p.groups);
  if (threads == 1 || by_panels)
    return share(parts, work, [&](i64 begin, i64 end) {
      gather_part(bands, c, {0, count, begin * panels / parts, end * panels / parts}, !ready, packed);
    });
  if (!ready) pack(packed);
  share(count, work, [&](i64 begin, i64 end) { gather_part(bands, c, {begin, end, 0, panels}, false, packed); });
}

// `sums`: how many consecutive channels are added to one result.
template <class Access>
void run_depthwise(PlanOf& of, const Conv<Access>& c, i64 sums) {
  using T = typename Access::Number;
  using K = Kernels<T>;
  const ConvPlan& p = of.plan;
  const i64 repeated = p.groups * p.repeat, channels = repeated / sums;
  const double work = results(p) * double(p.segments * repeated) * 4;  // its operands come from memory
  of.divide(bands_wanted(work));
  const Room<T> packed(K::depthwise_size.get()(p));
  const i64 numbers = p.window[0] * p.window[1] * p.window[2] * repeated;
  K::pack_depthwise.get()(p, typename Access::Copy(c.filter, numbers).data(), packed.data());
  const typename Access::Bands bands(of, channels);
  share(bands.count(), work, [&](i64 begin, i64 end) {
    typename Access::Band band(bands);
    const Room<T> room(band.room()), row(sums > 1 ? band.plan().axis[2].count * repeated : 0);
    band.each(c.x, c.y, begin, end, {0, channels}, [&](const BandCall<T>& b) {
      K::depthwise.get()(band.plan(), {.x = b.x,
                                       .packed = packed.data(),
                                       .y = b.y,
                                       .begin = b.begin,
                                       .end = b.end,
                                       .sums = sums,
                                       .room = room.data(),
                                       .row = row.data(),
                                       .epilogue = c.epilogue});
    });
  });
}

/// y = activation((x * w + bias) * scale + offset), of inputs that may be missing from the end on.
template <class Access>
void convolve(const KernelCall& c, const rules::ConvAttrs& a, FusedActivation activation) {
  using Stored = typename Access::Stored;
  const Operand &x = c.in[0], &w = c.in[1], &y = c.out[0];
  const auto vector = [&](std::size_t i) { return c.in.size() > i ? c.in[i].as<const Stored>() : nullptr; };
  const Epilogue<Stored> e{activation, vector(2), vector(3), vector(4)};
  const i64 channels = y.shape().dim(-1), pixels = y.size() / channels;
  const auto zeros = [&] { product_of<Stored>(pixels, channels, 0, nullptr, nullptr, y.as<Stored>(), e); };
  if (x.size() == 0 || w.size() == 0) return zeros();
  const Sizes s = sizes_of(a, x.shape(), w.shape());
  if (s.is_product())
    return product_of(pixels, channels, s.in_channels, x.as<const Stored>(), w.as<const Stored>(), y.as<Stored>(), e,
                      c.packed);
  PlanOf of(s, sizeof(typename Access::Number));
  if (of.taps() == 0) return zeros();
  const typename Access::Copy bias(e.bias, channels), scale(e.scale, channels), offset(e.offset, channels);
  const Conv<Access> conv{.x = x.as<const Stored>(),
                          .filter = w.as<const Stored>(),
                          .transposed = false,
                          .y = y.as<Stored>(),
                          .epilogue = {activation, bias.data(), scale.data(), offset.data()},
                          .kept = c.packed};
  s.depthwise() ? run_depthwise(of, conv, 1) : run_gather(of, conv);
}

template <class Access>
void backward(const KernelCall& c, const Sizes& s) {
  using Stored = typename Access::Stored;
  const Stored *const g = c.in[0].as<const Stored>(), *const w = c.in[1].as<const Stored>();
  const Operand& dx = c.out[0];
  if (s.is_product()) return input_product(s, g, w, dx.as<Stored>(), c.packed);
  const Conv<Access> conv{
      .x = g, .filter = w, .transposed = true, .y = dx.as<Stored>(), .epilogue = {}, .kept = c.packed};
  each_input_plan(
      s, sizeof(typename Access::Number), [&] { std::memset(dx.data, 0, dx.spec->bytes()); },
      [&](PlanOf& of) { s.depthwise() ? run_depthwise(of, conv, s.out_channels) : run_gather(of, conv); });
}

template <class Access>
void filter_gradient(const KernelCall& c, const Sizes& s) {
  using Stored = typename Access::Stored;
  const Stored *const x = c.in[0].as<const Stored>(), *const g = c.in[1].as<const Stored>();
  const Operand& dw = c.out[0];
  if (s.is_product()) return filter_product(s, x, g, dw.as<Stored>());
  const typename Access::Sums sums(dw.as<Stored>(), dw.size());
  FilterGradient<Access>(s, x, g, sums.data()).run();
  sums.store();
}

}  // namespace TANDEM_NS::cpu::convolution
