// Definitions of layers/noise.hpp.
#pragma once
#include <cmath>

#include "tandem/layers/image.hpp"
#include "tandem/layers/noise.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/random/draw.hpp"
#include "tandem/ops/random/dropout.hpp"
#include "tandem/ops/shape/shape_of.hpp"
#include "tandem/util/format.hpp"

namespace TANDEM_NS::layers {

namespace detail {
inline Dims dims_of(const Tensor& x) {
  Dims r;
  for (const DimValue& n : get_shape(x)) r.push_back(n);
  return r;
}
// Normally distributed noise in x's shape.
TANDEM_INLINE Tensor noise_for(const char* layer, const Tensor& x, double mean, double stddev,
                               std::optional<i64> seed) {
  if (!is_floating(x.dtype()))
    errors::raise<errors::InvalidArgumentError>(layer, "x must be floating, not " + to_string(x.spec()));
  return random::normal(dims_of(x), {.mean = mean, .stddev = stddev, .dtype = x.dtype(), .seed = seed});
}

TANDEM_INLINE SpatialDropout::SpatialDropout(const char* layer, const char* kind, int spatial, double rate,
                                             SpatialDropoutOptions options)
    : Layer(kind), layer_(layer), spatial_(spatial), rate_(checked_rate(layer, rate)), options_(options) {}
TANDEM_INLINE Tensor SpatialDropout::operator()(const Tensor& x, const CallOptions& call) const {
  const InCall here(*this);
  check_image(layer_, x, spatial_);
  Shape noise;
  for (int i = 0; i < x.rank(); ++i) {
    const int k = i - first_spatial(options_.data_format);
    noise.push_back(k >= 0 && k < spatial_ ? 1 : none);
  }
  return nn::dropout(
      x, {.rate = rate_, .noise_shape = noise, .seed = options_.seed, .training = detail::trains(call, rate_)});
}
}  // namespace detail

TANDEM_INLINE Dropout::Dropout(double rate, DropoutOptions options)
    : Layer("dropout"), rate_(detail::checked_rate("Dropout", rate)), options_(options) {}
TANDEM_INLINE Tensor Dropout::operator()(const Tensor& x, const CallOptions& call) const {
  const InCall here(*this);
  return nn::dropout(x, {.rate = rate_,
                         .noise_shape = options_.noise_shape,
                         .seed = options_.seed,
                         .training = detail::trains(call, rate_)});
}

TANDEM_INLINE GaussianNoise::GaussianNoise(double stddev, NoiseOptions options)
    : Layer("gaussian_noise"), stddev_(stddev), options_(options) {
  if (!(stddev >= 0))
    errors::raise<errors::InvalidArgumentError>("GaussianNoise",
                                                "stddev is negative: " + tandem::detail::shortest_text(stddev));
}
TANDEM_INLINE Tensor GaussianNoise::operator()(const Tensor& x, const CallOptions& call) const {
  const InCall here(*this);
  if (!detail::trains(call, stddev_)) return x;
  return x + detail::noise_for("GaussianNoise", x, 0, stddev_, options_.seed);
}

TANDEM_INLINE GaussianDropout::GaussianDropout(double rate, NoiseOptions options)
    : Layer("gaussian_dropout"), rate_(detail::checked_rate("GaussianDropout", rate)), options_(options) {}
TANDEM_INLINE Tensor GaussianDropout::operator()(const Tensor& x, const CallOptions& call) const {
  const InCall here(*this);
  if (!detail::trains(call, rate_)) return x;
  return x * detail::noise_for("GaussianDropout", x, 1, std::sqrt(rate_ / (1 - rate_)), options_.seed);
}

TANDEM_INLINE AlphaDropout::AlphaDropout(double rate, DropoutOptions options)
    : Layer("alpha_dropout"), rate_(detail::checked_rate("AlphaDropout", rate)), options_(options) {}
TANDEM_INLINE Tensor AlphaDropout::operator()(const Tensor& x, const CallOptions& call) const {
  const InCall here(*this);
  if (!detail::trains(call, rate_)) return x;
  if (!is_floating(x.dtype()))
    errors::raise<errors::InvalidArgumentError>("AlphaDropout", "x must be floating, not " + to_string(x.spec()));
  const Shape* const noise = options_.noise_shape.get();
  const Dims dims = noise ? tandem::detail::noise_dims("AlphaDropout", x, *noise) : detail::dims_of(x);
  const Tensor kept = random::uniform(dims, {.seed = options_.seed}) >= rate_;
  const double limit = -1.6732632423543772 * 1.0507009873554805;  // selu's
  const double scale = 1 / std::sqrt((1 - rate_) * (1 + rate_ * limit * limit));
  return scale * where(kept, x, limit) - scale * limit * rate_;
}

TANDEM_INLINE Tensor ActivityRegularization::operator()(const Tensor& x, const CallOptions& call) const {
  const InCall here(*this);
  if (call.is_training()) return penalized(x, regularizers::L1L2(options_.l1, options_.l2));
  set_call_loss(Tensor());
  return x;
}

}  // namespace TANDEM_NS::layers
