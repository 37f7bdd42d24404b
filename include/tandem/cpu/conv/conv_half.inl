// Definitions of cpu/conv/half.hpp. The filter is packed as float32 once. Each thread widens what a band of results, or
// of long rows a part of it, reads into scratch, runs the float32 kernel on it as a convolution of its own, and rounds
// its results once.
#pragma once
#include "tandem/cpu/conv/driver.hpp"
#include "tandem/cpu/conv/half.hpp"
#include "tandem/cpu/gemm/half_kernels.hpp"

#if !TANDEM_IS_HEADER_ONLY
#define TANDEM_KERNELS "tandem/cpu/conv/half.inc"
#include "tandem/cpu/simd/for_each_isa.inc"

namespace TANDEM_NS::cpu::convolution {

template <class H>
inline constexpr DType half_dtype = std::is_same_v<H, Half> ? DType::float16 : DType::bfloat16;

/// A float32 copy of n numbers, or none of null.
template <class H>
class WidenedCopy {
 public:
  WidenedCopy(const H* x, i64 n) : room_(x ? n : 0) {
    if (x) half_rows(half_dtype<H>).widen(x, 0, room_.data(), 0, 1, n);
  }
  const float* data() const { return room_.data(); }

 private:
  Room<float> room_;
};

/// Sums in float32, rounded once.
template <class H>
class WidenedSums {
 public:
  WidenedSums(H* to, i64 n) : room_(n), to_(to), n_(n) {}
  float* data() const { return room_.data(); }
  void store() const { half_rows(half_dtype<H>).round(room_.data(), 0, to_, 0, 1, n_); }

 private:
  Room<float> room_;
  H* to_;
  i64 n_;
};

/// The columns of a plan's results in parts, so that the float32 copies of a row stay in the L2 cache. Every part but
/// the last is a multiple of `unit`, for which kernels compute what they compute for whole rows.
struct RowParts {
  i64 wide, count = 1;

  RowParts(const ConvPlan& p, i64 channels, i64 unit) : wide(p.axis[2].count) {
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

/// The bands of a plan, or of long rows their parts, for results with `channels` channels. By default `unit` is what
/// planar.inc computes at once on any instruction set.
struct HalfBands {
  const PlanOf& of;
  const i64 channels;
  const RowParts parts;
  explicit HalfBands(const PlanOf& plan, i64 results_channels, i64 unit = 64)
      : of(plan), channels(results_channels), parts(plan.plan, results_channels, unit) {}
  i64 count() const { return of.plan.items() * parts.count; }
};

/// One part after another, with float32 copies of what it reads and of its results.
template <class H>
class HalfBand {
 public:
  explicit HalfBand(const HalfBands& bands)
      : of_(bands.of),
        parts_(bands.parts),
        channels_(bands.channels),
        image_channels_(of_.plan.groups * of_.plan.depth),
        image_(image_numbers()),
        results_(scratch_product(of_.plan.band * parts_.wide, channels_)) {
    band_.become_part(of_, {0, 0, of_.plan.band, 0, parts_.wide});  // the largest, for who needs scratch
  }

  const ConvPlan& plan() const { return band_.plan; }
  i64 room() const { return band_.room(); }
  template <class F>
  void each(const H* x, H* y, i64 begin, i64 end, Channels written, const F& f) {
    for (i64 i = begin; i < end; ++i) {
      read(x, i);
      f(BandCall<float>{image_.data(), results_.data(), 0, 1, i == begin});
      write(y, written.from, written.past);
    }
  }
  template <class F>
  void each_read(const H* x, const H* g, i64 begin, i64 end, const F& f) {
    for (i64 i = begin * parts_.count; i < end * parts_.count; ++i) {
      read(x, i);
      read_results(g);
      f(BandCall<float, const float>{image_.data(), results_.data(), 0, 1, i == begin * parts_.count});
    }
  }

 private:
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

/// How half precision is read and written (access.hpp): a band at a time, or a part of a long row.
template <class H>
struct Widened {
  using Stored = H;
  using Number = float;
  static constexpr bool keeps_panels = false;  // they have twice the size of the filter
  using Copy = WidenedCopy<H>;
  using Sums = WidenedSums<H>;
  using Bands = HalfBands;
  using Band = HalfBand<H>;
  static PackSegments<float> pack() {
    static constexpr auto sets = TANDEM_SETS_OF(H, convolution::pack_half_segments<H>);
    return sets.get();
  }
};

TANDEM_INLINE void convolve_half(const KernelCall& c, const rules::ConvAttrs& a, FusedActivation activation) {
  c.out[0].spec->dtype == DType::float16 ? convolve<Widened<Half>>(c, a, activation)
                                         : convolve<Widened<BFloat16>>(c, a, activation);
}
TANDEM_INLINE void backward_half(const KernelCall& c, const Sizes& s) {
  c.out[0].spec->dtype == DType::float16 ? backward<Widened<Half>>(c, s) : backward<Widened<BFloat16>>(c, s);
}
TANDEM_INLINE void filter_gradient_half(const KernelCall& c, const Sizes& s) {
  c.out[0].spec->dtype == DType::float16 ? filter_gradient<Widened<Half>>(c, s)
                                         : filter_gradient<Widened<BFloat16>>(c, s);
}

}  // namespace TANDEM_NS::cpu::convolution
#endif
