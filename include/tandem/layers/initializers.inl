// Definitions of layers/initializers.hpp.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstring>

#include "tandem/core/scope.hpp"
#include "tandem/layers/initializers.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/create/constant.hpp"
#include "tandem/ops/create/fill.hpp"
#include "tandem/ops/linalg/matmul.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/random/draw.hpp"
#include "tandem/ops/shape/concat.hpp"
#include "tandem/ops/shape/reshape.hpp"
#include "tandem/ops/shape/slice.hpp"
#include "tandem/ops/shape/transpose.hpp"

namespace TANDEM_NS {
namespace detail {

struct Fans {
  double in = 1, out = 1;
};
TANDEM_INLINE Fans fans_of(const Shape& s) {
  if (s.rank() == 0) return {};
  if (s.rank() == 1) return {static_cast<double>(s.dim(0)), static_cast<double>(s.dim(0))};
  double field = 1;
  for (int i = 0; i < s.rank() - 2; ++i) field *= static_cast<double>(s.dim(i));
  return {static_cast<double>(s.dim(-2)) * field, static_cast<double>(s.dim(-1)) * field};
}

// Gram-Schmidt orthonormalization of the rows of a block.
TANDEM_INLINE Tensor orthonormal_block(const Tensor& block) {
  const auto rows = static_cast<std::size_t>(block.shape().dim(0)),
             columns = static_cast<std::size_t>(block.shape().dim(1));
  std::vector<double> q = block.to_vector<double>();
  for (std::size_t i = 0; i < rows; ++i) {
    double* r = &q[i * columns];
    for (std::size_t j = 0; j < i; ++j) {
      double dot = 0;
      for (std::size_t k = 0; k < columns; ++k) dot += r[k] * q[j * columns + k];
      for (std::size_t k = 0; k < columns; ++k) r[k] -= dot * q[j * columns + k];
    }
    double norm = 0;
    for (std::size_t k = 0; k < columns; ++k) norm += r[k] * r[k];
    norm = std::sqrt(norm);
    for (std::size_t k = 0; k < columns; ++k) r[k] /= norm;
  }
  return constant(q, {.shape = block.shape()});
}
// The orthonormal factor Q of a normal matrix with rows <= columns. Works block by block, so that most of the work
// is matrix products; each block is processed twice for accuracy. Signs are not normalized, so Q is uniformly
// distributed.
TANDEM_INLINE Tensor orthonormal_rows(const Tensor& normal) {
  constexpr i64 most = 32;
  std::vector<Tensor> done;
  for (i64 row = 0; row < normal.shape().dim(0); row += most) {
    Tensor block = normal(Slice(row, std::min(row + most, normal.shape().dim(0))));
    for (int pass = 0; pass < 2; ++pass) {
      for (const Tensor& q : done) block = block - matmul(matmul(block, q, {.transpose_b = true}), q);
      block = orthonormal_block(block);
    }
    done.push_back(block);
  }
  return done.empty() ? normal : concat(done, 0);
}
// With a seed a pure function of it, as in Keras: each call draws the same numbers.
inline random::Seed stateless_seed(i64 seed) { return {seed, 0}; }
TANDEM_INLINE Tensor drawn_normal(const Shape& shape, const random::NormalOptions& o, std::optional<i64> seed) {
  return seed ? random::stateless_normal(shape, stateless_seed(*seed), o) : random::normal(shape, o);
}
TANDEM_INLINE Tensor orthogonal(const Shape& shape, double gain, std::optional<i64> seed) {
  if (shape.rank() < 2)
    errors::raise<errors::InvalidArgumentError>("orthogonal",
                                                "needs a shape of rank 2 or more, not " + to_string(shape));
  const i64 columns = shape.dim(-1), rows = columns ? shape.size() / columns : 0;
  const Shape drawn{std::min(rows, columns), std::max(rows, columns)};
  const Tensor q = orthonormal_rows(drawn_normal(drawn, {.dtype = DType::float64}, seed));
  return reshape(gain * (rows <= columns ? q : transpose(q)), shape);
}
TANDEM_INLINE Tensor scaled_identity(const Shape& shape, double gain) {
  if (shape.rank() != 2)
    errors::raise<errors::InvalidArgumentError>("identity", "needs a matrix shape, not " + to_string(shape));
  return eye(shape.dim(0), {.num_columns = shape.dim(1), .dtype = DType::float64}) * gain;
}

TANDEM_INLINE Tensor draw_constant(const Shape& shape, double a, double, DType dtype, std::optional<i64>) {
  if (const Scalar number(a); !number.fits(dtype))
    tandem::detail::raise_unfit("constant", number, dtype, std::string(name(dtype)) + "; give another dtype");
  return tandem::detail::filled("initializer", shape, dtype, a);
}
TANDEM_INLINE Tensor draw_uniform(const Shape& shape, double a, double b, DType dtype, std::optional<i64> seed) {
  const random::UniformOptions o{.minval = a, .maxval = b, .dtype = dtype};
  return seed ? random::stateless_uniform(shape, stateless_seed(*seed), o) : random::uniform(shape, o);
}
TANDEM_INLINE Tensor draw_normal(const Shape& shape, double a, double b, DType dtype, std::optional<i64> seed) {
  return drawn_normal(shape, {.mean = a, .stddev = b, .dtype = dtype}, seed);
}
TANDEM_INLINE Tensor draw_truncated_normal(const Shape& shape, double a, double b, DType dtype,
                                           std::optional<i64> seed) {
  const random::NormalOptions o{.mean = a, .stddev = b, .dtype = dtype};
  return seed ? random::stateless_truncated_normal(shape, stateless_seed(*seed), o)
              : random::truncated_normal(shape, o);
}
TANDEM_INLINE Tensor draw_orthogonal(const Shape& shape, double gain, double, DType dtype, std::optional<i64> seed) {
  return cast(orthogonal(shape, gain, seed), dtype);
}
TANDEM_INLINE Tensor draw_identity(const Shape& shape, double gain, double, DType dtype, std::optional<i64>) {
  return cast(scaled_identity(shape, gain), dtype);
}

}  // namespace detail

// drawn: the part of a tensor of this shape, whose fans count, that is drawn.
TANDEM_INLINE Tensor Initializer::draw(const Shape& shape, const Shape& drawn, DType dtype,
                                       std::optional<i64> seed) const {
  double a = a_, b = b_;
  if (fan_ != Fan::unscaled) {
    const detail::Fans f = detail::fans_of(shape);
    const double n = fan_ == Fan::in ? f.in : fan_ == Fan::out ? f.out : (f.in + f.out) / 2;
    const double variance = a_ / std::max(1.0, n);
    // The standard deviation of a normal distribution truncated at two standard deviations is .87962566 of the
    // original.
    b = kind_ == Kind::uniform ? std::sqrt(3 * variance)
                               : std::sqrt(variance) / (kind_ == Kind::truncated_normal ? .87962566103423978 : 1);
    a = kind_ == Kind::uniform ? -b : 0;
  }
  return draw_(drawn, a, b, dtype, seed);
}
TANDEM_INLINE Tensor Initializer::operator()(const Shape& shape, DType dtype) const {
  return draw(shape, shape, dtype, seed_);
}
// In blocks: each caller draws all rows, and keeps its own.
TANDEM_INLINE Tensor Initializer::some_rows(const Shape& shape, i64 first, i64 step, i64 seed, DType dtype) const {
  const DeviceScope host(Device{});
  const i64 rows = shape.dim(0), width = rows ? shape.size() / rows : 0;
  const bool is_whole = kind_ == Kind::orthogonal || kind_ == Kind::identity;
  const i64 block = is_whole ? std::max<i64>(rows, 1) : 1024;
  Shape own = shape, part = shape;
  own.set(0, std::max<i64>(0, (rows - first + step - 1) / step));
  const Tensor r = Tensor::allocate({own, dtype, {}});
  auto* to = static_cast<char*>(r.raw());
  for (i64 at = 0; at < rows && width; at += block) {
    part.set(0, std::min(block, rows - at));
    // An odd factor: seeds of different blocks differ.
    const u64 of_block = static_cast<u64>(seed_.value_or(seed)) + static_cast<u64>(at / block) * 0x9e3779b97f4a7c15u;
    const Tensor all = draw(shape, part, dtype, static_cast<i64>(of_block));
    const i64 begin = at <= first ? first - at : (step - (at - first) % step) % step;
    const auto bytes = static_cast<std::size_t>(width) * size_of(dtype);
    const auto* from = static_cast<const char*>(all.raw());
    for (i64 row = begin; bytes && row < part.dim(0); row += step, to += bytes)
      std::memcpy(to, from + static_cast<std::size_t>(row) * bytes, bytes);
  }
  return r;
}

}  // namespace TANDEM_NS
