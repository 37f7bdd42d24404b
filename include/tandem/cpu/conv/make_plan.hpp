// Makes ConvPlans from specs and attributes. For the definitions of conv.hpp.
#pragma once
#include <algorithm>

#include "tandem/attrs/conv.hpp"
#include "tandem/base/error.hpp"
#include "tandem/cpu/conv/plan.hpp"
#include "tandem/util/inlined_vector.hpp"

namespace TANDEM_NS::cpu::convolution {

/// The sizes of one convolution y = conv(x, w); channels are counted per group.
struct Sizes {
  i64 batch, groups, in_channels, out_channels;
  WindowAxis axis[3];
  i64 taps() const { return axis[0].window * axis[1].window * axis[2].window; }
  i64 pixels_in() const { return batch * axis[0].in * axis[1].in * axis[2].in; }
  i64 pixels_out() const { return batch * axis[0].out * axis[1].out * axis[2].out; }
  bool depthwise() const { return in_channels == 1 && groups > 1; }
  /// One pixel of the input for each pixel of the result: a matrix product.
  bool is_product() const {
    bool same = groups == 1 && taps() == 1;
    for (const WindowAxis& a : axis) same = same && a.stride == 1 && a.before == 0 && a.in == a.out;
    return same;
  }
};
inline Sizes sizes_of(const rules::ConvAttrs& a, const Shape& x, const Shape& w) {
  const WindowAxes axes(a, x, w.begin());
  const i64 in = w.dim(-2), groups = in ? x.dim(-1) / in : 1;
  return {x.dim(0), groups, in, groups ? w.dim(-1) / groups : 0, {axes.axis[0], axes.axis[1], axes.axis[2]}};
}

/// a * b, numbers of scratch: padding and strides can make it larger than any memory.
///   throws  errors::ResourceExhaustedError if it is not representable
inline i64 scratch_product(i64 a, i64 b) {
  i64 r;
  if (__builtin_mul_overflow(a, b, &r))
    errors::raise<errors::ResourceExhaustedError>("convolution", "the scratch for a band of rows exceeds all memory");
  return r;
}

/// Calls f for each tap of a convolution along an axis that reads inside of the image for some result, in the order of
/// their offsets. These are neighbors: the others read only zeros.
template <class F>
void each_tap(const WindowAxis& a, F f) {
  for (i64 k = 0; k < a.window; ++k)
    if (const i64 offset = k * a.dilation - a.before; offset < a.in && offset + (a.out - 1) * a.stride >= 0)
      f(ConvTap{offset, k});
}
/// The same for the input gradient at the positions r + t * stride, which reads gradients of the results.
template <class F>
void each_tap(const WindowAxis& a, i64 r, F f) {
  const i64 count = (a.in - r + a.stride - 1) / a.stride;
  for (i64 k = a.window - 1; k >= 0; --k) {
    const i64 at = r + a.before - k * a.dilation, offset = at / a.stride;
    if (at % a.stride == 0 && offset < a.out && offset + count - 1 >= 0) f(ConvTap{offset, k});
  }
}

/// A plan and the arrays that it refers to.
class PlanOf {
 public:
  PlanOf(const PlanOf&) = delete;
  PlanOf& operator=(const PlanOf&) = delete;

  /// The convolution; depthwise ones repeat each channel.
  PlanOf(const Sizes& s, std::size_t element) {
    const bool deep = s.depthwise();
    begin(s, s.groups, s.in_channels, s.out_channels, deep ? s.out_channels : 1);
    for (int i = 0; i < 3; ++i) {
      const WindowAxis& a = s.axis[i];
      each_tap(a, [&](const ConvTap& tap) { taps_[i].push_back(tap); });
      plan.axis[i] = {a.in, a.out, a.out, 0, 1, a.stride, nullptr, 0, 0, 0};
    }
    finish(deep, element);
  }
  /// The input gradient, at the positions r[i] + t * stride along axis i. It reads gradients of the results.
  PlanOf(const Sizes& s, const i64* r, std::size_t element) {
    const bool deep = s.depthwise();
    if (deep) begin(s, s.groups * s.out_channels, 1, 1, 1);
    else begin(s, s.groups, s.out_channels, s.in_channels, 1);
    for (int i = 0; i < 3; ++i) {
      const WindowAxis& a = s.axis[i];
      each_tap(a, r[i], [&](const ConvTap& tap) { taps_[i].push_back(tap); });
      const i64 count = (a.in - r[i] + a.stride - 1) / a.stride;
      plan.axis[i] = {a.out, a.in, count, r[i], a.stride, 1, nullptr, 0, 0, 0};
    }
    finish(deep, element);
  }

  /// Room for become_part().
  PlanOf() = default;
  /// Part of a band: results [row, row + rows) along axis 1, [column, column + wide) along axis 2.
  struct Part {
    i64 plane, row, rows, column, wide;
  };
  /// Makes this the plan of a part of one band of `of`, for an image that is what the part reads: the positions that
  /// `read` returns along the axes. The results are the part's, adjacent. It has the taps and segments of `of`, even
  /// where they read only zeros, because these determine the order of each sum. It refers to `of`.
  void become_part(const PlanOf& of, const Part& part) {
    plan = of.plan;
    plan.batch = 1;
    set_axis(0, of, part.plane, 1);
    set_axis(1, of, part.row, part.rows);
    set_axis(2, of, part.column, part.wide);
    plan.row = row_of(plan.axis[2]);
    set_band(part.rows);
  }
  /// Positions along an axis of the image of the plan that this is a part of.
  struct Positions {
    i64 from, past;
  };
  Positions read[3] = {};

  /// Shortens the bands until there are `wanted` of them, if possible. Changes no result of a convolution.
  void divide(i64 wanted) {
    const i64 planes = plan.batch * plan.axis[0].count, rows = plan.axis[1].count;
    if (planes <= 0 || rows <= 0) return;
    const i64 bands = std::clamp<i64>((wanted + planes - 1) / planes, plan.bands, rows);
    set_band((rows + bands - 1) / bands);
  }
  /// The scratch for a band, in numbers.
  i64 room() const { return plan.direct ? 0 : scratch_product(plan.axis[0].span(), plan.plane); }
  /// The taps that read inside of the image somewhere. Without any all results are zeros.
  i64 taps() const { return plan.axis[0].tap_count * plan.axis[1].tap_count * plan.axis[2].tap_count; }

  ConvPlan plan = {};

 private:
  void begin(const Sizes& s, i64 groups, i64 depth, i64 columns, i64 repeat) {
    plan.batch = s.batch, plan.groups = groups, plan.depth = depth, plan.columns = columns, plan.repeat = repeat;
    for (int i = 0; i < 3; ++i) plan.window[i] = s.axis[i].window;
  }
  void finish(bool deep, std::size_t element) {
    plan.direct = plan.repeat == 1;
    for (int i = 0; i < 3; ++i) {
      ConvAxis& a = plan.axis[i];
      a.taps = taps_[i].begin(), a.tap_count = taps_[i].size();
      if (a.tap_count) a.low = a.taps[0].offset, a.high = a.taps[a.tap_count - 1].offset;
      plan.direct = plan.direct && a.low >= 0 && (a.count - 1) * a.in_step + a.high < a.in;
    }
    const ConvAxis& w = plan.axis[2];
    plan.merged = plan.groups == 1 && !deep && w.high - w.low + 1 == w.tap_count;
    plan.row = row_of(w);
    plan.segments = plan.axis[0].tap_count * plan.axis[1].tap_count * (plan.merged ? 1 : w.tap_count);
    plan.k = plan.merged ? w.tap_count * plan.depth : plan.depth;
    // As many rows as let a band, what is left of it included, stay in the L2 cache.
    const ConvAxis& h = plan.axis[1];
    const i64 bytes = scratch_product(scratch_product(plan.row, plan.axis[0].span()), i64(element));
    const i64 rows = (192 << 10) / std::max<i64>(1, bytes);
    set_band((rows - h.span()) / std::max<i64>(1, h.in_step) + 1);
  }
  i64 row_of(const ConvAxis& w) const {
    return scratch_product(plan.groups * plan.depth * plan.repeat,
                           plan.direct ? w.in : (w.count - 1) * w.in_step + w.span());
  }
  void set_axis(int i, const PlanOf& of, i64 first, i64 count) {
    const ConvAxis& whole = of.plan.axis[i];
    const i64 from = std::clamp<i64>(first * whole.in_step + whole.low, 0, whole.in);
    const i64 past = std::clamp<i64>((first + count - 1) * whole.in_step + whole.high + 1, from, whole.in);
    const i64 shift = first * whole.in_step - from;
    taps_[i].clear();
    for (const ConvTap& tap : of.taps_[i]) taps_[i].push_back(ConvTap{tap.offset + shift, tap.index});
    plan.axis[i] = {
        past - from,       count, count, 0, 1, whole.in_step, taps_[i].begin(), whole.tap_count, whole.low + shift,
        whole.high + shift};
    read[i] = {from, past};
  }
  void set_band(i64 rows) {
    const ConvAxis &h = plan.axis[1], &w = plan.axis[2];
    plan.band = std::clamp<i64>(rows, 1, std::max<i64>(1, h.count));
    plan.bands = (h.count + plan.band - 1) / plan.band;
    plan.plane = scratch_product(plan.row, plan.direct ? h.in : (plan.band - 1) * h.in_step + h.span());
    if (!plan.direct) (void)scratch_product(plan.plane, plan.axis[0].span());  // offsets are below that
    const i64 channels = plan.groups * plan.depth * plan.repeat;
    offsets_.clear(), rows_.clear();
    for (const ConvTap& i : taps_[0])
      for (const ConvTap& j : taps_[1])
        for (const ConvTap& l : taps_[2]) {
          if (plan.merged && &l != taps_[2].begin()) break;
          offsets_.push_back((i.offset - plan.axis[0].low) * plan.plane + (j.offset - h.low) * plan.row +
                             (l.offset - w.low) * channels);
        }
    for (i64 r = 0; r < plan.band; ++r) rows_.push_back(r * h.in_step * plan.row);
    plan.offsets = offsets_.begin(), plan.rows = rows_.begin();
  }

  InlinedVector<ConvTap, 12> taps_[3];
  InlinedVector<i64, 32> offsets_, rows_;
};

}  // namespace TANDEM_NS::cpu::convolution
