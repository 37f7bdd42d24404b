// A convolution as descriptors of cuDNN's graph API. Host code, empty without cuDNN's header.
#pragma once
#include <cstdint>
#include <limits>

#include "cuda/conv/cudnn.hpp"
#include "cuda/conv/descriptor.hpp"

#if TANDEM_WITH_CUDNN

namespace TANDEM_NS::cuda {

inline constexpr i64 widest_alignment = 16;
enum : i64 { x_id = 1, w_id, y_id };

inline cudnnDataType_t type_of(DType d) {
  return d == DType::float16 ? CUDNN_DATA_HALF : d == DType::bfloat16 ? CUDNN_DATA_BFLOAT16 : CUDNN_DATA_FLOAT;
}

/// A problem in cuDNN's terms: two or three spatial axes.
class Geometry {
 public:
  Geometry(const ConvProblem& p, bool rounds) : p_(p), rounds_(rounds) {
    const WindowAxis& a = p.axis[0];
    const bool flat = a.in == 1 && a.out == 1 && a.window == 1 && a.before == 0;
    for (int i = flat ? 1 : 0; i < 3; ++i) add(p.axis[i]);
    if (is_slow_gradient()) fits_ = fits_ && p.in % 4 == 0 && p.out % 4 == 0;
    check_size(p.batch * p.groups * p.in, in_);
    check_size(p.groups * p.out * p.in, window_);
    check_size(p.batch * p.groups * p.out, out_);
  }
  int axes() const { return axes_; }
  const i64* strides() const { return stride_; }
  const i64* dilations() const { return dilation_; }
  const i64* before() const { return before_; }
  const i64* after() const { return after_; }
  // Whether all numbers fit cuDNN's 32 bits, and this is not a gradient that our own kernels compute faster without
  // TF32: with unequal padding, or of channels that do not come in fours.
  bool fits() const { return fits_; }

  Descriptor x(const CudnnApi& api, i64 aligned) const {
    return tensor(api, x_id, p_.batch, p_.groups * p_.in, in_, aligned);
  }
  Descriptor w(const CudnnApi& api) const {
    return tensor(api, w_id, p_.groups * p_.out, p_.in, window_, widest_alignment);
  }
  Descriptor y(const CudnnApi& api, i64 aligned) const {
    return tensor(api, y_id, p_.batch, p_.groups * p_.out, out_, aligned);
  }

 private:
  static constexpr i64 most = std::numeric_limits<std::int32_t>::max();

  bool is_slow_gradient() const { return p_.part != ConvPart::forward && !rounds_; }
  void check_size(i64 elements, const i64* spatial) {
    for (int i = 0; i < axes_; ++i) elements *= spatial[i];
    fits_ = fits_ && elements <= most;
  }
  void add(const WindowAxis& a) {
    const i64 reach = (a.window - 1) * a.dilation, room = a.in + 2 * a.before - reach - 1;
    const bool equal = room >= 0 && room / a.stride + 1 == a.out;
    const i64 after = equal ? a.before : (a.out - 1) * a.stride + reach + 1 - a.in - a.before;
    fits_ = fits_ && a.before >= 0 && after >= 0 && (equal || !is_slow_gradient()) && a.in + a.before + after <= most &&
            reach < most && a.stride <= most;
    in_[axes_] = a.in, out_[axes_] = a.out, window_[axes_] = a.window;
    stride_[axes_] = a.stride, dilation_[axes_] = a.dilation;
    before_[axes_] = a.before, after_[axes_++] = after;
  }
  // Dimensions are listed as batch, channels, spatial axes; in memory, channels are last.
  Descriptor tensor(const CudnnApi& api, i64 id, i64 batch, i64 channels, const i64* spatial, i64 aligned) const {
    const int rank = axes_ + 2;
    std::int64_t sizes[5] = {batch, channels}, steps[5] = {0, 1};
    std::int64_t step = channels;
    for (int i = axes_ - 1; i >= 0; --i) {
      sizes[2 + i] = spatial[i];
      steps[2 + i] = step;
      step *= spatial[i];
    }
    steps[0] = step;
    Descriptor d(api, CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    d.set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, type_of(p_.dtype));
    d.set(CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, sizes, rank);
    d.set(CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, steps, rank);
    d.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, static_cast<std::int64_t>(id));
    d.set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, static_cast<std::int64_t>(aligned));
    return d;
  }

  const ConvProblem& p_;
  const bool rounds_;
  int axes_ = 0;
  bool fits_ = true;
  i64 in_[3] = {}, out_[3] = {}, window_[3] = {}, stride_[3] = {}, dilation_[3] = {}, before_[3] = {}, after_[3] = {};
};

}  // namespace TANDEM_NS::cuda

#endif
