// Definitions of cpu/conv/half.hpp. The filter is packed as float32 once. Each thread widens what a band of results, or
// of long rows a part of it, reads into scratch, runs the float32 kernel on it as a convolution of its own, and rounds
// its results once.
#pragma once
#include <cstring>

#include "tandem/cpu/conv/filter_gradient.hpp"
#include "tandem/cpu/conv/half.hpp"
#include "tandem/cpu/conv/work.hpp"
#include "tandem/cpu/gemm/half_kernels.hpp"

#if !TANDEM_IS_HEADER_ONLY
#define TANDEM_KERNELS "tandem/cpu/conv/half.inc"
#include "tandem/cpu/simd/for_each_isa.inc"

namespace TANDEM_NS::cpu::convolution {

template <class H>
inline constexpr DType half_dtype = std::is_same_v<H, Half> ? DType::float16 : DType::bfloat16;

/// A float32 copy of n numbers, or none of null.
template <class H>
class Widened {
 public:
  Widened(const H* x, i64 n) : room_(x ? n : 0) {
    if (x) half_rows(half_dtype<H>).widen(x, 0, room_.data(), 0, 1, n);
  }
  const float* data() const { return room_.data(); }

 private:
  Room<float> room_;
};

/// The columns of a plan's results in parts, so that the float32 copies of a row stay in the L2 cache. Every part but
/// the last is a multiple of `unit`, for which kernels compute what they compute for whole rows.
struct RowParts {
  i64 wide, count = 1;

  /// `channels`: those of the results. By default `unit` is what planar.inc computes at once on any instruction set.
  RowParts(const ConvPlan& p, i64 channels, i64 unit = 64) : wide(p.axis[2].count) {
    if (p.band > 1) return;  // several rows fit
    const ConvAxis &d = p.axis[0], &h = p.axis[1], &w = p.axis[2];
    const i64 rows = scratch_product(std::min(d.in, d.span()), std::min(h.in, h.span()));
    const i64 reads = scratch_product(scratch_product(rows, w.in_step), p.groups * p.depth * p.repeat);
    const i64 some = (48 << 10) / std::max<i64>({1, reads, channels});
    const i64 most = std::max<i64>({some, 256, unit}) / unit * unit;
    if (most >= wide) return;
    count = (wide + most - 1) / most, wide = most;
  }
};

/// One part of a plan's bands after another, with float32 copies of what it reads and of its results.
template <class H>
class HalfBand {
 public:
  /// `channels`: those of the results.
  HalfBand(const PlanOf& of, const RowParts& parts, i64 channels)
      : of_(of),
        parts_(parts),
        channels_(channels),
        image_channels_(of.plan.groups * of.plan.depth),
        image_(image_numbers()),
        results_(scratch_product(of.plan.band * parts.wide, channels)) {
    band_.become_part(of, {0, 0, of.plan.band, 0, parts.wide});  // the largest, for who needs scratch
  }

  /// Goes to part `item` and widens what it reads of x.
  void read(const H* x, i64 item) {
    const ConvPlan& p = of_.plan;
    const i64 rest = item / parts_.count / p.bands;
    image_number_ = rest / p.axis[0].count;
    part_.plane = rest % p.axis[0].count;
    part_.row = item / parts_.count % p.bands * p.band, part_.rows = std::min(p.band, p.axis[1].count - part_.row);
    part_.column = item % parts_.count * parts_.wide;
    part_.wide = std::min(parts_.wide, p.axis[2].count - part_.column);
    band_.become_part(of_, part_);
    const auto [z, z_past] = band_.read[0];
    const auto [y, y_past] = band_.read[1];
    const auto [c, c_past] = band_.read[2];
    const i64 row = p.axis[2].in * image_channels_, n = (c_past - c) * image_channels_, rows = y_past - y;
    for (i64 i = z; i < z_past; ++i) {
      const H* const from = x + ((image_number_ * p.axis[0].in + i) * p.axis[1].in + y) * row + c * image_channels_;
      float* const to = image_.data() + (i - z) * rows * n;
      if (n == row) rows_.widen(from, 0, to, 0, 1, rows * n);
      else rows_.widen(from, row, to, n, rows, n);
    }
  }
  const PlanOf& of() const { return band_; }
  const ConvPlan& plan() const { return band_.plan; }
  const float* image() const { return image_.data(); }
  float* results() const { return results_.data(); }

  /// Rounds the channels [from, past) of the part's results to y.
  void write(H* y, i64 from, i64 past) const {
    const i64 wide = part_.wide, step = of_.plan.axis[2].step;
    for (i64 r = 0; r < part_.rows; ++r) {
      const float* const row = results_.data() + r * wide * channels_ + from;
      H* const to = y + row_at(r) + from;
      if (step == 1 && past - from == channels_) rows_.round(row, 0, to, 0, 1, wide * channels_);
      else rows_.round(row, channels_, to, step * channels_, wide, past - from);
    }
  }
  /// For a plan whose results are adjacent: widens the part of g, which has their shape.
  void read_results(const H* g) {
    const i64 row = of_.plan.axis[2].count * channels_, n = part_.wide * channels_;
    if (n == row) rows_.widen(g + row_at(0), 0, results_.data(), 0, 1, part_.rows * n);
    else rows_.widen(g + row_at(0), row, results_.data(), n, part_.rows, n);
  }

 private:
  /// Where row r of the part's results begins.
  i64 row_at(i64 r) const {
    const ConvAxis &d = of_.plan.axis[0], &h = of_.plan.axis[1], &w = of_.plan.axis[2];
    const i64 z = image_number_ * d.out + d.start + part_.plane * d.step, y = h.start + (part_.row + r) * h.step;
    return ((z * h.out + y) * w.out + w.start + part_.column * w.step) * channels_;
  }
  /// What the largest part reads.
  i64 image_numbers() const {
    const ConvAxis &d = of_.plan.axis[0], &h = of_.plan.axis[1], &w = of_.plan.axis[2];
    const i64 rows = std::min(h.in, (of_.plan.band - 1) * h.in_step + h.span());
    const i64 columns = std::min(w.in, (parts_.wide - 1) * w.in_step + w.span());
    return scratch_product(std::min(d.in, d.span()) * rows, columns * image_channels_);
  }

  const PlanOf& of_;
  const RowParts parts_;
  const HalfRows& rows_ = half_rows(half_dtype<H>);
  const i64 channels_, image_channels_;
  i64 image_number_ = 0;
  PlanOf::Part part_ = {};
  PlanOf band_;
  const Room<float> image_, results_;
};

/// The operands and the results of a convolution or its input gradient.
template <class H>
struct HalfConv {
  const H *x, *filter;
  bool transposed;  // the filter's last axis is the one that is summed over
  H* y;
  Epilogue<float> e;
};

template <class H>
void half_planar(PlanOf& of, const HalfConv<H>& c) {
  using K = Kernels<float>;
  const ConvPlan& p = of.plan;
  const i64 size = p.segments * p.k * p.columns;
  const double work = results(p) * double(size);
  of.divide(bands_wanted(work));
  const Room<float> packed(size);
  K::pack_planar.get()(p, Widened<H>(c.filter, p.window[0] * p.window[1] * p.window[2] * p.depth * p.columns).data(),
                       c.transposed, packed.data());
  const RowParts parts(p, p.columns);
  share(p.items() * parts.count, work, [&](i64 begin, i64 end) {
    HalfBand<H> band(of, parts, p.columns);
    const Room<float> room(K::planar_room.get()(band.plan()));
    for (i64 i = begin; i < end; ++i) {
      band.read(c.x, i);
      K::planar.get()(band.plan(), band.image(), packed.data(), band.results(), 0, 1, room.data(), c.e);
      band.write(c.y, 0, p.columns);
    }
  });
}

/// The results of the panels [panel, past) of the filter in the bands [begin, end). `pack`: the panels are packed here,
/// each before it is used first.
template <class H>
void half_gather(const PlanOf& of, const RowParts& parts, const HalfConv<H>& c, const ConvPart& part, bool pack,
                 float* packed) {
  static constexpr auto packer = TANDEM_SETS_OF(H, convolution::pack_half_filter<H>);
  const ConvPlan& p = of.plan;
  const i64 tile = Kernels<float>::panel_size.get()(p) / std::max<i64>(1, p.segments * p.k);
  const i64 panels = (p.columns + tile - 1) / tile;
  const auto column = [&](i64 q) { return q / panels * p.columns + q % panels * tile; };
  HalfBand<H> band(of, parts, p.groups * p.columns);
  const Room<float> room(band.of().room());
  for (i64 i = part.begin; i < part.end; ++i) {
    band.read(c.x, i);
    const bool packs = pack && i == part.begin;
    const i64 step = packs ? 1 : part.past - part.panel;
    for (i64 q = part.panel; q < part.past; q += step) {
      if (packs) packer.get()(p, c.filter, c.transposed, q, q + 1, packed);
      Kernels<float>::gather.get()(band.plan(), {.x = band.image(),
                                                 .filter = nullptr,
                                                 .transposed = false,
                                                 .packed = packed,
                                                 .y = band.results(),
                                                 .part = {0, 1, q, q + step},
                                                 .room = room.data(),
                                                 .epilogue = c.e});
    }
    band.write(c.y, column(part.panel), column(part.past));
  }
}
template <class H>
void run_half_gather(PlanOf& of, const HalfConv<H>& c) {
  using K = Kernels<float>;
  const ConvPlan& p = of.plan;
  if (is_planar(p)) return half_planar(of, c);
  const double work = results(p) * double(p.segments * p.k * p.columns * p.groups);
  of.divide(bands_wanted(work));
  const i64 panels = K::panels.get()(p), size = panels * K::panel_size.get()(p);
  const Room<float> packed(size);
  const RowParts parts(p, p.groups * p.columns);
  const i64 items = p.items() * parts.count;
  // Of a filter that is larger than the results each thread packs its own panels.
  if (double(size) > results(p) * double(p.columns * p.groups))
    return share(panels, work, [&](i64 begin, i64 end) {
      half_gather<H>(of, parts, c, {0, items, begin, end}, true, packed.data());
    });
  static constexpr auto packer = TANDEM_SETS_OF(H, convolution::pack_half_filter<H>);
  share(panels, double(size) * 4,
        [&](i64 begin, i64 end) { packer.get()(p, c.filter, c.transposed, begin, end, packed.data()); });
  share(items, work, [&](i64 begin, i64 end) {
    half_gather<H>(of, parts, c, {begin, end, 0, panels}, false, packed.data());
  });
}

// `sums`: how many consecutive channels are added to one result.
template <class H>
void run_half_depthwise(PlanOf& of, const HalfConv<H>& c, i64 sums) {
  using K = Kernels<float>;
  const ConvPlan& p = of.plan;
  const i64 repeated = p.groups * p.repeat, channels = repeated / sums;
  const double work = results(p) * double(p.segments * repeated) * 4;  // its operands come from memory
  of.divide(bands_wanted(work));
  const Room<float> packed(K::depthwise_size.get()(p));
  K::pack_depthwise.get()(p, Widened<H>(c.filter, p.window[0] * p.window[1] * p.window[2] * repeated).data(),
                          packed.data());
  const RowParts parts(p, channels);
  share(p.items() * parts.count, work, [&](i64 begin, i64 end) {
    HalfBand<H> band(of, parts, channels);
    const Room<float> room(band.of().room()), row(sums > 1 ? parts.wide * repeated : 0);
    for (i64 i = begin; i < end; ++i) {
      band.read(c.x, i);
      K::depthwise.get()(band.plan(), {.x = band.image(),
                                       .packed = packed.data(),
                                       .y = band.results(),
                                       .begin = 0,
                                       .end = 1,
                                       .sums = sums,
                                       .room = room.data(),
                                       .row = row.data(),
                                       .epilogue = c.e});
      band.write(c.y, 0, channels);
    }
  });
}

template <class H>
void half_forward(const KernelCall& c, const rules::ConvAttrs& a, FusedActivation activation) {
  const Operand &x = c.in[0], &w = c.in[1], &y = c.out[0];
  const auto vector = [&](std::size_t i) { return c.in.size() > i ? c.in[i].as<const H>() : nullptr; };
  const Epilogue<H> narrow{activation, vector(2), vector(3), vector(4)};
  const i64 channels = y.shape().dim(-1), pixels = y.size() / channels;
  const auto zeros = [&] { product_of<H>(pixels, channels, 0, nullptr, nullptr, y.as<H>(), narrow); };
  if (x.size() == 0 || w.size() == 0) return zeros();
  const Sizes s = sizes_of(a, x.shape(), w.shape());
  if (s.is_product())
    return product_of(pixels, channels, s.in_channels, x.as<const H>(), w.as<const H>(), y.as<H>(), narrow);
  PlanOf of(s, sizeof(float));
  if (of.taps() == 0) return zeros();
  const Widened<H> bias(narrow.bias, channels), scale(narrow.scale, channels), offset(narrow.offset, channels);
  const HalfConv<H> h{
      x.as<const H>(), w.as<const H>(), false, y.as<H>(), {activation, bias.data(), scale.data(), offset.data()}};
  s.depthwise() ? run_half_depthwise(of, h, 1) : run_half_gather(of, h);
}
template <class H>
void half_backward(const KernelCall& c, const Sizes& s) {
  const H *const g = c.in[0].as<const H>(), *const w = c.in[1].as<const H>();
  H* const dx = c.out[0].as<H>();
  if (s.is_product()) return input_product(s, g, w, dx);
  const HalfConv<H> h{g, w, true, dx, {}};
  each_input_plan(
      s, sizeof(float), [&] { std::memset(static_cast<void*>(dx), 0, c.out[0].spec->bytes()); },
      [&](PlanOf& of) { s.depthwise() ? run_half_depthwise(of, h, s.out_channels) : run_half_gather(of, h); });
}

/// The operands of a filter gradient, widened band by band, or part by part of long rows.
template <class H>
struct HalfBands {
  const H *x, *g;

  struct Scratch {
    const RowParts parts;
    HalfBand<H> band;
    Room<float> room, panel;
    Scratch(const PlanOf& of, bool deep)
        : Scratch(of, deep, of.plan.groups * (deep ? of.plan.repeat : of.plan.columns)) {}
    Scratch(const PlanOf& of, bool deep, i64 channels)
        : parts(of.plan, channels, summed_results),
          band(of, parts, channels),
          room(band.of().room()),
          panel(deep ? 0 : Kernels<float>::panel_room.get()(band.plan())) {}
  };
  void correlate(const PlanOf&, bool deep, float* to, const Chunk& c, Scratch& s) const {
    using K = Kernels<float>;
    for (i64 i = c.begin * s.parts.count; i < c.end * s.parts.count; ++i) {
      s.band.read(x, i);
      s.band.read_results(g);
      const float *const image = s.band.image(), *const gradients = s.band.results();
      const bool fresh = i == c.begin * s.parts.count;
      if (deep) K::correlate_depthwise.get()(s.band.plan(), image, gradients, to, 0, 1, s.room.data());
      else
        K::correlate.get()(s.band.plan(), {.x = image,
                                           .g = gradients,
                                           .dw = to,
                                           .begin = 0,
                                           .end = 1,
                                           .from = c.segment,
                                           .past = c.past,
                                           .fresh = fresh,
                                           .room = s.room.data(),
                                           .panel = s.panel.data()});
    }
  }
};
template <class H>
void half_filter_gradient(const KernelCall& c, const Sizes& s) {
  const H *const x = c.in[0].as<const H>(), *const g = c.in[1].as<const H>();
  const Operand& dw = c.out[0];
  if (s.is_product()) return filter_product(s, x, g, dw.as<H>());
  const Room<float> sums(dw.size());
  FilterGradient<float, HalfBands<H>>(s, {x, g}, sums.data()).run();
  half_rows(half_dtype<H>).round(sums.data(), 0, dw.data, 0, 1, dw.size());
}

TANDEM_INLINE void convolve_half(const KernelCall& c, const rules::ConvAttrs& a, FusedActivation activation) {
  c.out[0].spec->dtype == DType::float16 ? half_forward<Half>(c, a, activation)
                                         : half_forward<BFloat16>(c, a, activation);
}
TANDEM_INLINE void backward_half(const KernelCall& c, const Sizes& s) {
  c.out[0].spec->dtype == DType::float16 ? half_backward<Half>(c, s) : half_backward<BFloat16>(c, s);
}
TANDEM_INLINE void filter_gradient_half(const KernelCall& c, const Sizes& s) {
  c.out[0].spec->dtype == DType::float16 ? half_filter_gradient<Half>(c, s) : half_filter_gradient<BFloat16>(c, s);
}

}  // namespace TANDEM_NS::cpu::convolution
#endif
