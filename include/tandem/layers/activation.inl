// Definitions of layers/activation.hpp.
#pragma once
#include "tandem/layers/activation.hpp"
#include "tandem/ops/create/fill.hpp"
#include "tandem/ops/pointwise/activation.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/shape/shape_of.hpp"

namespace TANDEM_NS::layers {

TANDEM_INLINE ReLU::ReLU(ReLUOptions options) : Layer("re_lu"), options_(options) {
  if (options.max_value.value_or(0) < 0 || options.negative_slope < 0)
    errors::raise<errors::InvalidArgumentError>("ReLU", "max_value and negative_slope must not be negative");
}
TANDEM_INLINE Tensor ReLU::operator()(const Tensor& x) const {
  const InCall here(*this);
  const double slope = options_.negative_slope, threshold = options_.threshold;
  Tensor y;
  if (threshold != 0) y = where(x < threshold, slope == 0 ? zeros_like(x) : slope * (x - threshold), x);  // NaN stays
  else y = slope == 0 ? nn::relu(x) : nn::leaky_relu(x, {.alpha = slope});
  return options_.max_value ? minimum(y, *options_.max_value) : y;
}

TANDEM_INLINE Tensor LeakyReLU::operator()(const Tensor& x) const {
  const InCall here(*this);
  return nn::leaky_relu(x, {.alpha = options_.negative_slope});
}

TANDEM_INLINE Shape PReLU::alpha_shape(const Tensor& x) const {
  const auto fail = [&](const std::string& what) {
    errors::raise<errors::InvalidArgumentError>("PReLU", what + ": " + to_string(x.spec()));
  };
  if (x.rank() < 2) fail("needs a batch and axes with slopes");
  std::uint32_t shared = 0;
  for (const int axis : options_.shared_axes) {
    const int a = resolve_axis("PReLU", axis, x.rank());
    if (a == 0) fail("axis 0 is the batch, which always has common slopes");
    shared |= 1u << a;
  }
  Shape shape;
  for (int i = 1; i < x.rank(); ++i) {
    const i64 n = shared >> i & 1u ? 1 : x.shape().dim(i);
    if (n == none) fail("axis " + std::to_string(i) + " has an unknown size; add it to .shared_axes");
    shape.push_back(n);
  }
  return shape;
}
TANDEM_INLINE Tensor PReLU::operator()(const Tensor& x) const {
  return run_with_weights(
      [&] {
        return Weights{{"alpha", alpha_shape(x), options_.alpha_initializer, options_.dtype, options_.alpha_regularizer,
                        options_.alpha_constraint}};
      },
      [&](const Tensors& w) {
        Shape fits{none};
        for (const i64 n : w[0].shape()) fits.push_back(n == 1 ? none : n);
        if (!x.shape().is_compatible_with(fits))
          errors::raise<errors::InvalidArgumentError>(
              "PReLU", "the layer was built for inputs " + to_string(fits) + ", not " + to_string(x.spec()));
        return tandem::detail::leaky_relu(ensure_shape(x, fits), w[0]);
      });
}

TANDEM_INLINE Tensor ELU::operator()(const Tensor& x) const {
  const InCall here(*this);
  const Tensor y = nn::elu(x);
  return options_.alpha == 1 ? y : where(x > 0, x, options_.alpha * y);
}

TANDEM_INLINE Tensor Softmax::operator()(const Tensor& x) const {
  const InCall here(*this);
  return nn::softmax(x, {.axis = options_.axis});
}
TANDEM_INLINE Tensor Softmax::operator()(const Tensor& x, const Tensor& mask) const {
  const InCall here(*this);
  if (mask.dtype() != DType::bool_)
    errors::raise<errors::InvalidArgumentError>("Softmax", "the mask must be bool, not " + to_string(mask.spec()));
  bool fits = mask.rank() <= x.rank();
  for (int i = 1; fits && i <= mask.rank(); ++i) {
    const i64 have = mask.shape().dim(-i), want = x.shape().dim(-i);
    fits = have == want || have == 1 || have == none || want == none;
  }
  if (!fits)
    errors::raise<errors::InvalidArgumentError>(
        "Softmax",
        "the mask " + to_string(mask.spec()) + " does not broadcast to the shape of the input " + to_string(x.spec()));
  const double lowest = x.dtype() == DType::float16 ? -65504 : -3e38;  // finite: a row without elements is not NaN
  return (*this)(where(mask, x, lowest));
}

}  // namespace TANDEM_NS::layers
