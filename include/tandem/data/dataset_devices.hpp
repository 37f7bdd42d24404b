// Elements of data sets on a device. Part of the component tandem::data.
#pragma once
#include <memory>

#include "tandem/data/dataset.hpp"
#include "tandem/data/dataset/to_device.hpp"

namespace TANDEM_NS::data {

/// The elements with their tensors on a device, as tf.data.experimental.copy_to_device; texts stay on the CPU. It keeps
/// an indexed data set indexed. To a GPU, an iteration copies through page-locked memory of the host on a stream of its
/// own, which kernels wait for that are launched behind the copy; at() copies on the stream of the kernels.
template <class T>
Dataset<T> copy_to_device(const Dataset<T>& dataset, Device device) {
  return dataset.with(std::make_shared<detail::ToDevice<T>>("copy_to_device", dataset.stage(), device, 0));
}
/// The same by a thread that copies up to `buffer_size` elements while the loop computes, as
/// tf.data.experimental.prefetch_to_device: the last step of a pipeline. On a GPU the copies run beside the kernels;
/// those that are launched once the loop has the element wait for its copy alone. The device's memory of up to
/// `buffer_size` + 3 elements, of 67 with autotune, is kept for the next ones until the iteration ends. What it does
/// not use now is released by cuda::trim, and before an allocation fails for lack of memory.
///   buffer_size  as that of Dataset::prefetch
///
///   for (auto& [x, y] : data::prefetch_to_device(batches, device_named("GPU:0")).epoch(0)) step(x, y);
template <class T>
Dataset<T> prefetch_to_device(const Dataset<T>& dataset, Device device, i64 buffer_size = 2) {
  detail::check_ahead("prefetch_to_device", buffer_size);
  return dataset.with(
      std::make_shared<detail::ToDevice<T>>("prefetch_to_device", dataset.stage(), device, buffer_size));
}

}  // namespace TANDEM_NS::data
