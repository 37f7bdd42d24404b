// Elements of data sets on a device. Part of the component tandem::data.
#pragma once
#include <utility>

#include "tandem/data/dataset.hpp"

namespace TANDEM_NS::data {

namespace detail {
template <class T>
T on_device(T element, Device device) {
  each_tensor(element, [&](Tensor& t) {
    if (t.dtype() != DType::string) t = t.to(device);
  });
  return element;
}
}  // namespace detail

/// The elements with their tensors on a device, as tf.data.experimental.copy_to_device; texts stay on the CPU. It keeps
/// an indexed data set indexed. On a GPU a copy takes its turn in the queue of the device's kernels.
template <class T>
Dataset<T> copy_to_device(const Dataset<T>& dataset, Device device) {
  return dataset.map([device](T element) { return detail::on_device(std::move(element), device); });
}
/// The same by a thread that copies up to `buffer_size` elements while the loop computes, as
/// tf.data.experimental.prefetch_to_device: the last step of a pipeline.
///   buffer_size  as that of Dataset::prefetch
///
///   for (auto& [x, y] : data::prefetch_to_device(batches, device_named("GPU:0")).epoch(0)) step(x, y);
template <class T>
Dataset<T> prefetch_to_device(const Dataset<T>& dataset, Device device, i64 buffer_size = 2) {
  return copy_to_device(dataset, device).prefetch(buffer_size);
}

}  // namespace TANDEM_NS::data
