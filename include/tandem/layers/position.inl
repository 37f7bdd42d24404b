// Definitions of layers/position.hpp.
#pragma once
#include <cmath>
#include <vector>

#include "tandem/layers/position.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/create/constant.hpp"
#include "tandem/ops/create/range.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/trig.hpp"
#include "tandem/ops/reduce/like.hpp"
#include "tandem/ops/shape/reshape.hpp"
#include "tandem/ops/shape/shape_of.hpp"
#include "tandem/ops/shape/slice.hpp"

namespace TANDEM_NS::layers {

namespace detail {
TANDEM_INLINE DimValue steps_of(const char* layer, const Tensor& x) {
  if (x.rank() < 2)
    errors::raise<errors::InvalidArgumentError>(layer, "needs [..., time, features], not " + to_string(x.spec()));
  return get_shape(x)[static_cast<std::size_t>(x.rank() - 2)];
}
}  // namespace detail

TANDEM_INLINE PositionEmbedding::PositionEmbedding(i64 sequence_length, const PositionEmbeddingOptions& options)
    : Layer("position_embedding"),
      length_(detail::positive("PositionEmbedding", "sequence_length", sequence_length)),
      options_(options) {}
TANDEM_INLINE Tensor PositionEmbedding::operator()(const Tensor& x, const PositionCall& call) const {
  const InCall here(*this);
  const DimValue time = detail::steps_of("PositionEmbedding", x);
  if (call.start_index < 0 || (time.is_known() && call.start_index + time.number > length_))
    errors::raise<errors::InvalidArgumentError>(
        "PositionEmbedding", "positions from " + std::to_string(call.start_index) + " of " + to_string(x.spec()) +
                                 " lie outside of the " + std::to_string(length_) + " that have a vector");
  return run_with_weights(
      [&] {
        const i64 features = features_of("PositionEmbedding", x);
        return Weights{{"position_embeddings", {length_, features}, options_.initializer, options_.dtype}};
      },
      [&](const Tensors& w) {
        if (!Shape{x.shape().dim(-1)}.is_compatible_with({w[0].shape().dim(1)}))
          errors::raise<errors::InvalidArgumentError>("PositionEmbedding",
                                                      "the layer was built for " + std::to_string(w[0].shape().dim(1)) +
                                                          " features, the input is " + to_string(x.spec()));
        return tandem::detail::broadcast_like(slice(w[0], {call.start_index, 0}, {time, -1}), x);
      });
}

TANDEM_INLINE Tensor SinePositionEncoding::operator()(const Tensor& x, const PositionCall& call) const {
  const InCall here(*this);
  const DimValue time = detail::steps_of("SinePositionEncoding", x);
  const i64 features = features_of("SinePositionEncoding", x);
  if (!is_floating(x.dtype()))
    errors::raise<errors::InvalidArgumentError>("SinePositionEncoding",
                                                "x must be floating, not " + to_string(x.spec()));
  std::vector<double> frequencies, phases;
  for (i64 i = 0; i < features; ++i) {
    frequencies.push_back(
        std::pow(options_.max_wavelength, -static_cast<double>(i / 2 * 2) / static_cast<double>(features)));
    phases.push_back(i % 2 ? std::acos(-1.0) / 2 : 0);  // cos(x) = sin(x + pi / 2)
  }
  const tandem::detail::ShapeChecks lenient(false);
  const Tensor steps = cast(time.is_known() ? range(time.number) : range(time.tensor), DType::float64);
  const Tensor positions = expand_dims(steps + static_cast<double>(call.start_index), 1);
  const Tensor waves = sin(positions * constant(frequencies) + constant(phases));
  return tandem::detail::broadcast_like(cast(waves, x.dtype()), x);
}

}  // namespace TANDEM_NS::layers
