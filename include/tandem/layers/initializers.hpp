// Initial values of weights. Formulas: Glorot & Bengio 2010, He et al. 2015, LeCun et al. 1998, as in TensorFlow.
#pragma once
#include <optional>

#include "tandem/core/tensor.hpp"

namespace TANDEM_NS {

namespace detail {
// The kinds of Initializer. Each one is a separate function, so a program links only those that it names.
using Draw = Tensor (*)(const Shape& shape, double a, double b, DType dtype, std::optional<i64> seed);
TANDEM_API Tensor draw_constant(const Shape&, double a, double, DType, std::optional<i64>);
TANDEM_API Tensor draw_uniform(const Shape&, double a, double b, DType, std::optional<i64>);
TANDEM_API Tensor draw_normal(const Shape&, double a, double b, DType, std::optional<i64>);
TANDEM_API Tensor draw_truncated_normal(const Shape&, double a, double b, DType, std::optional<i64>);
TANDEM_API Tensor draw_orthogonal(const Shape&, double gain, double, DType, std::optional<i64>);
TANDEM_API Tensor draw_identity(const Shape&, double gain, double, DType, std::optional<i64>);
}  // namespace detail

/// A rule for initial values: a plain value type, called with the shape of the weight. The fans of a kernel
/// [..., in, out] are in and out times the receptive field (the product of the leading axes).
///
/// With a `seed` the values depend on the seed, the shape and the dtype alone, as in Keras 3: each call returns the
/// same ones, so that weights of one shape made with one seed begin equal. Without a seed they are drawn from the
/// global generator (random::set_seed).
class TANDEM_API Initializer {
 public:
  enum class Kind : std::uint8_t { constant, uniform, normal, truncated_normal, orthogonal, identity };
  enum class Fan : std::uint8_t { unscaled, in, out, average };

  constexpr Initializer(Kind kind, detail::Draw rule, double a, double b, Fan fan = Fan::unscaled,
                        std::optional<i64> seed = {})
      : draw_(rule), a_(a), b_(b), seed_(seed), kind_(kind), fan_(fan) {}
  /// Returns a tensor of a floating dtype.
  ///   throws  errors::InvalidArgumentError for a shape that the rule does not support
  Tensor operator()(const Shape& shape, DType dtype = DType::float32) const;
  /// The rows `first`, `first + step`, ... of a tensor [rows, ...] that is too large for one process: the same for any
  /// `first` and `step`, and others than those of operator(). Needs the memory of its rows and of a block of 1024;
  /// Orthogonal and Identity, that of all rows.
  ///   seed  which the values depend on, unless the rule has one
  Tensor some_rows(const Shape& shape, i64 first, i64 step, i64 seed, DType dtype) const;
  std::optional<i64> seed() const { return seed_; }

 private:
  Tensor draw(const Shape& shape, const Shape& drawn, DType dtype, std::optional<i64> seed) const;
  detail::Draw draw_;
  double a_, b_;  // uniform: [a, b); normal: mean a, deviation b; with a fan: a is the scale
  std::optional<i64> seed_;
  Kind kind_;
  Fan fan_;
};

namespace initializers {

using Seed = std::optional<i64>;
constexpr Initializer Zeros() { return {Initializer::Kind::constant, &detail::draw_constant, 0, 0}; }
constexpr Initializer Ones() { return {Initializer::Kind::constant, &detail::draw_constant, 1, 0}; }
constexpr Initializer Constant(double value) { return {Initializer::Kind::constant, &detail::draw_constant, value, 0}; }
constexpr Initializer RandomUniform(double minval = -0.05, double maxval = 0.05, Seed seed = {}) {
  return {Initializer::Kind::uniform, &detail::draw_uniform, minval, maxval, Initializer::Fan::unscaled, seed};
}
constexpr Initializer RandomNormal(double mean = 0, double stddev = 0.05, Seed seed = {}) {
  return {Initializer::Kind::normal, &detail::draw_normal, mean, stddev, Initializer::Fan::unscaled, seed};
}
constexpr Initializer TruncatedNormal(double mean = 0, double stddev = 0.05, Seed seed = {}) {
  return {Initializer::Kind::truncated_normal,
          &detail::draw_truncated_normal,
          mean,
          stddev,
          Initializer::Fan::unscaled,
          seed};
}
/// Values with variance scale / fan; `kind` is uniform, normal or truncated_normal.
constexpr Initializer VarianceScaling(double scale, Initializer::Fan fan, Initializer::Kind kind, Seed seed = {}) {
  const detail::Draw draw = kind == Initializer::Kind::uniform  ? &detail::draw_uniform
                            : kind == Initializer::Kind::normal ? &detail::draw_normal
                                                                : &detail::draw_truncated_normal;
  return {kind, draw, scale, 0, fan, seed};
}
/// Uniform on [-limit, limit), where limit = sqrt(6 / (fan_in + fan_out)).
constexpr Initializer GlorotUniform(Seed seed = {}) {
  return {Initializer::Kind::uniform, &detail::draw_uniform, 1, 0, Initializer::Fan::average, seed};
}
constexpr Initializer GlorotNormal(Seed seed = {}) {
  return {Initializer::Kind::truncated_normal, &detail::draw_truncated_normal, 1, 0, Initializer::Fan::average, seed};
}
constexpr Initializer HeUniform(Seed seed = {}) {
  return {Initializer::Kind::uniform, &detail::draw_uniform, 2, 0, Initializer::Fan::in, seed};
}
constexpr Initializer HeNormal(Seed seed = {}) {
  return {Initializer::Kind::truncated_normal, &detail::draw_truncated_normal, 2, 0, Initializer::Fan::in, seed};
}
constexpr Initializer LecunUniform(Seed seed = {}) {
  return {Initializer::Kind::uniform, &detail::draw_uniform, 1, 0, Initializer::Fan::in, seed};
}
constexpr Initializer LecunNormal(Seed seed = {}) {
  return {Initializer::Kind::truncated_normal, &detail::draw_truncated_normal, 1, 0, Initializer::Fan::in, seed};
}
/// A matrix with orthonormal rows or columns (whichever are fewer), times gain.
constexpr Initializer Orthogonal(double gain = 1, Seed seed = {}) {
  return {Initializer::Kind::orthogonal, &detail::draw_orthogonal, gain, 0, Initializer::Fan::unscaled, seed};
}
constexpr Initializer Identity(double gain = 1) {
  return {Initializer::Kind::identity, &detail::draw_identity, gain, 0};
}

}  // namespace initializers
}  // namespace TANDEM_NS
