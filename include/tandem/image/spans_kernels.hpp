// Which pixels of an axis each pixel of the resized axis is made of, and with which weights.
#pragma once
#include "tandem/core/allocator.hpp"
#include "tandem/image/resize.hpp"

namespace TANDEM_NS::image::impl {

/// A table of runs, as kernels see it: output pixel o is the sum over k < count[o] of weights[o * most + k] times the
/// input pixel first[o] + k.
struct SpanTable {
  const i64* first;
  const i64* count;
  const float* weights;
  i64 most, inputs, outputs;
};

/// For each output pixel a run of input pixels and their weights. Runs begin and end in order, so the transposed table,
/// which says to which output pixels an input pixel contributes, consists of runs too.
class Spans {
 public:
  /// Of an axis that is resized from `in` to `out` pixels, both positive.
  TANDEM_API Spans(i64 in, i64 out, const rules::ResizeAttrs&);
  Spans transposed() const { return Spans(*this, longest_transposed()); }
  SpanTable table() const { return {first_, count_, weights_, most_, inputs_, outputs_}; }

 private:
  struct Method;
  Spans(i64 inputs, i64 outputs, i64 most);
  TANDEM_API Spans(const Spans& forward, i64 most);
  TANDEM_API i64 longest_transposed() const;
  void add(i64 output, i64 input, float weight);
  void normalize(i64 output);
  void fill(const rules::ResizeAttrs&);
  void fill_filter(const Method&, bool antialias);
  void fill_bilinear(bool half_pixel_centers);
  void fill_nearest(bool half_pixel_centers);
  void fill_bicubic(bool half_pixel_centers);
  void fill_area();

  i64 inputs_, outputs_, most_;
  memory::Scratch room_;
  i64* first_;
  i64* count_;
  float* weights_;
};

}  // namespace TANDEM_NS::image::impl
