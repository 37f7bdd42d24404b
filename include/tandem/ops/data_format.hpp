// DataFormat: where an image tensor has its channels. Shared by convolutions, pooling and other ops on images.
#pragma once
#include <cstdint>

#include "tandem/config.hpp"

namespace TANDEM_NS {

/// The order of the axes of an image: [batch, spatial..., channels] or [batch, channels, spatial...]. TensorFlow's
/// names depend on the number of spatial axes; they are all accepted.
enum class DataFormat : std::uint8_t {
  channels_last,
  channels_first,
  nwc = channels_last,
  ncw = channels_first,
  nhwc = channels_last,
  nchw = channels_first,
  ndhwc = channels_last,
  ncdhw = channels_first
};

}  // namespace TANDEM_NS
