// What convolutions and pooling share inside: checks of their shape rules, and images with their channels first.
#pragma once
#include "tandem/attrs/conv.hpp"
#include "tandem/core/apply.hpp"
#include "tandem/ops/data_format.hpp"

namespace TANDEM_NS::detail {

// Larger strides, dilations and paddings would overflow sizes.
inline constexpr i64 max_window_entry = i64(1) << 30;

/// Raises unless the attributes fit an image of so many spatial axes.
TANDEM_API void check_window(const InferCall& c, const rules::WindowAttrs& a, int spatial);
/// The size of a result along spatial axis i; unknown if one of the sizes is.
TANDEM_API i64 window_result(const InferCall& c, const rules::WindowAttrs& a, int i, i64 in, i64 window);

/// x with its channels moved behind all other axes, or from there to axis 1.
TANDEM_API Tensor channels_moved(const Tensor& x, bool last_to_first);
inline Tensor with_channels_last(const Tensor& x, DataFormat format) {
  return format == DataFormat::channels_first && x.rank() > 2 ? channels_moved(x, false) : x;
}
inline Tensor with_channels_of(const Tensor& y, DataFormat format) {
  return format == DataFormat::channels_first && y.rank() > 2 ? channels_moved(y, true) : y;
}

}  // namespace TANDEM_NS::detail
