// The check that layers for images share. For the definitions of layers.
#pragma once
#include "tandem/core/tensor.hpp"
#include "tandem/ops/data_format.hpp"

namespace TANDEM_NS::layers::detail {

/// Checks that x has a batch, so many spatial axes, and channels.
///   throws  errors::InvalidArgumentError, in the layer's name
inline void check_image(const char* layer, const Tensor& x, int spatial) {
  if (x.rank() != spatial + 2)
    errors::raise<errors::InvalidArgumentError>(
        layer, "needs an input of rank " + std::to_string(spatial + 2) + " (a batch, " + std::to_string(spatial) +
                   (spatial == 1 ? " spatial axis" : " spatial axes") + " and channels), not " + to_string(x.spec()));
}
/// The first spatial axis of an image.
inline int first_spatial(DataFormat format) { return format == DataFormat::channels_first ? 2 : 1; }

}  // namespace TANDEM_NS::layers::detail
