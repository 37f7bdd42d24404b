// Definitions of ops/conv/window.hpp, and of the checks that the shape rules of convolutions and pooling share.
#pragma once
#include "tandem/ops/conv/image_axes.hpp"
#include "tandem/ops/conv/window.hpp"
#include "tandem/ops/shape/transpose.hpp"

namespace TANDEM_NS::detail {

// The first spatial entry in a list with one entry for each axis of an image.
inline int first_spatial(DataFormat format) { return format == DataFormat::channels_first ? 2 : 1; }
inline int channel_entry(int spatial, DataFormat format) {
  return format == DataFormat::channels_first ? 1 : spatial + 1;
}

[[noreturn, gnu::cold, gnu::noinline]] inline void raise_entries(const char* op, const char* what, int given,
                                                                 int spatial, bool or_one) {
  errors::raise<errors::InvalidArgumentError>(
      op, std::string(what) + " has " + std::to_string(given) + " entries for " + std::to_string(spatial) +
              " spatial axes (give " + (or_one ? "1, " : "") + std::to_string(spatial) + " or " +
              std::to_string(spatial + 2) + " with batch and channels)");
}

TANDEM_INLINE Shape spatial_sizes(const char* op, const char* what, const WindowSizes& sizes, int spatial,
                                  DataFormat format) {
  const int n = sizes.size();
  if (n != 0 && n != 1 && n != spatial && n != spatial + 2) raise_entries(op, what, n, spatial, true);
  if (n == spatial + 2 && n > 2 && (sizes[0] != 1 || sizes[channel_entry(spatial, format)] != 1))
    errors::raise<errors::InvalidArgumentError>(op, std::string(what) + " must be 1 for batch and channels, not " +
                                                        std::to_string(sizes[0]) + " and " +
                                                        std::to_string(sizes[channel_entry(spatial, format)]));
  Shape r;
  for (int i = 0; i < spatial; ++i) {
    const i64 size = n == 0 ? 1 : sizes[n == 1 ? 0 : n == spatial ? i : first_spatial(format) + i];
    if (size < 1)
      errors::raise<errors::InvalidArgumentError>(op,
                                                  std::string(what) + " must be positive, not " + std::to_string(size));
    r.push_back(size);
  }
  return r;
}

TANDEM_INLINE void set_padding(const char* op, const Padding& padding, int spatial, DataFormat format,
                               rules::WindowAttrs& to) {
  to.padding = padding.kind();
  to.pads = Shape();
  if (to.padding != PaddingKind::given) return;
  if (padding.is_causal()) errors::raise<errors::InvalidArgumentError>(op, "Padding::causal is for conv1d");
  const int n = padding.size();
  if (n != spatial && n != spatial + 2) raise_entries(op, "padding", n, spatial, false);
  if (n != spatial)
    for (int i : {0, channel_entry(spatial, format)})
      if (padding.before(i) || padding.after(i))
        errors::raise<errors::InvalidArgumentError>(op, "batch and channels cannot be padded");
  for (int i = 0; i < spatial; ++i) {
    const int at = n == spatial ? i : first_spatial(format) + i;
    if (padding.before(at) < 0 || padding.after(at) < 0)
      errors::raise<errors::InvalidArgumentError>(op, "padding is negative: {" + std::to_string(padding.before(at)) +
                                                          ", " + std::to_string(padding.after(at)) + "}");
    to.pads.push_back(padding.before(at));
    to.pads.push_back(padding.after(at));
  }
}

TANDEM_INLINE void check_window(const InferCall& c, const rules::WindowAttrs& a, int spatial) {
  const auto in_range = [](const Shape& s, i64 low) {
    for (i64 n : s)
      if (n < low || n > max_window_entry) return false;
    return true;
  };
  const bool given = a.padding == PaddingKind::given;
  if (spatial < 1 || spatial > 3 || a.strides.rank() != spatial || a.dilations.rank() != spatial ||
      a.pads.rank() != (given ? 2 * spatial : 0))
    raise_specs(c, "the window's attributes have the wrong number of axes");
  if (!in_range(a.strides, 1) || !in_range(a.dilations, 1) || !in_range(a.pads, 0))
    raise_specs(c, "strides and dilations must be positive, paddings not negative");
}

TANDEM_INLINE i64 window_result(const InferCall& c, const rules::WindowAttrs& a, int i, i64 in, i64 window) {
  // With entries of up to max_window_entry, no sum or product overflows.
  if (in > i64{1} << 60 || window > i64{1} << 31)
    raise_specs(c, "a window of " + std::to_string(window) + " on a spatial axis of size " + std::to_string(in) +
                       " is too large");
  if (in == none || (window == none && a.padding != PaddingKind::same)) return none;
  const WindowAxis w = window_axis(a, i, in, window == none ? 1 : window);
  if (w.out < 0)
    raise_specs(c,
                "a window of " + std::to_string(window) + " with dilation " + std::to_string(w.dilation) +
                    " does not fit into size " + std::to_string(in) + " of spatial axis " + std::to_string(i),
                "use Padding::same, or explicit padding");
  return w.out;
}

TANDEM_INLINE Tensor channels_moved(const Tensor& x, bool last_to_first) {
  Axes perm(0);
  const int rank = x.rank();
  if (last_to_first) perm.push_back(rank - 1);
  for (int i = 1; i < rank - 1; ++i) perm.push_back(last_to_first ? i : i + 1);
  if (!last_to_first) perm.push_back(1);
  return transpose(x, {.perm = perm});
}

}  // namespace TANDEM_NS::detail
