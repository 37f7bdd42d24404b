// Random tensors: uniform, normal, truncated_normal, bits, from a generator or (stateless_*) from a seed. A number
// depends only on its key and position: not on the threads, nor on the instruction set or device (normals: to 1e-6).
// Not here: sampling from given values (sample.hpp), where keys come from (generator.hpp).
#pragma once
#include <array>
#include <concepts>

#include "tandem/attrs/random.hpp"
#include "tandem/base/scalar.hpp"
#include "tandem/ops/dims.hpp"
#include "tandem/ops/random/generator.hpp"

namespace TANDEM_NS::random {

/// A parameter of a distribution: a number, or a tensor that broadcasts to the result.
class Parameter {
 public:
  template <class T>
    requires std::is_arithmetic_v<T>
  constexpr Parameter(T x) : number_(static_cast<double>(x)) {}
  Parameter(const Tensor& x) : tensor_(x) {}
  bool is_tensor() const { return tensor_.is_set(); }
  double number() const { return number_; }
  const Tensor& tensor() const { return tensor_; }

 private:
  double number_ = 0;
  Tensor tensor_;
};

struct NormalOptions {
  TANDEM_OP_OPTIONS;
  Parameter mean = 0;
  Parameter stddev = 1;
  DType dtype = DType::float32;
  std::optional<i64> seed = {};          ///< selects a separate random sequence (generator.hpp)
  const Generator* generator = nullptr;  ///< default: the global generator
};
struct UniformOptions {
  TANDEM_OP_OPTIONS;
  Scalar minval = 0;
  std::optional<Scalar> maxval = {};  ///< default: 1 for floating dtypes; required for integers
  DType dtype = DType::float32;
  std::optional<i64> seed = {};
  const Generator* generator = nullptr;
};
struct BitsOptions {
  TANDEM_OP_OPTIONS;
  DType dtype = DType::uint32;
  std::optional<i64> seed = {};
  const Generator* generator = nullptr;
};

/// Draws normally distributed numbers, by the Box-Muller method.
///   shape     of the result, with dtype float32, float64, float16 or bfloat16
///   returns   a tensor on the current device
///   throws    errors::InvalidArgumentError for a negative stddev or size, or an integer dtype
///   gradient  to mean, if it is a tensor: the sum of g; to stddev: the sum of g z, where z is the standard normal
///             number
TANDEM_API Tensor normal(const Dims& shape, NormalOptions options = {});
inline Tensor normal(const Dims& shape, Parameter mean, Parameter stddev, NormalOptions o = {}) {
  o.mean = std::move(mean), o.stddev = std::move(stddev);
  return normal(shape, o);
}
template <std::same_as<DType> D>
Tensor normal(const Dims& shape, Parameter mean, Parameter stddev, D dtype, NormalOptions o = {}) {
  return o.dtype = dtype, normal(shape, std::move(mean), std::move(stddev), std::move(o));
}
/// Draws normally distributed numbers and redraws those beyond two standard deviations from the mean. The variance
/// is 0.774 times that of the untruncated distribution. Otherwise as normal.
TANDEM_API Tensor truncated_normal(const Dims& shape, NormalOptions options = {});
inline Tensor truncated_normal(const Dims& shape, Parameter mean, Parameter stddev, NormalOptions o = {}) {
  o.mean = std::move(mean), o.stddev = std::move(stddev);
  return truncated_normal(shape, o);
}
template <std::same_as<DType> D>
Tensor truncated_normal(const Dims& shape, Parameter mean, Parameter stddev, D dtype, NormalOptions o = {}) {
  return o.dtype = dtype, truncated_normal(shape, std::move(mean), std::move(stddev), std::move(o));
}
/// Draws uniformly distributed numbers in [minval, maxval). Floating numbers are multiples of 2^-24 (float64: 2^-52)
/// of the interval's width; integers have no modulo bias.
///   shape     of the result; any floating or integer dtype
///   throws    errors::InvalidArgumentError if minval >= maxval, if an integer dtype is used without maxval or
///             cannot represent the bounds, or if the interval's width exceeds the dtype's range
///   gradient  none
TANDEM_API Tensor uniform(const Dims& shape, UniformOptions options = {});
inline Tensor uniform(const Dims& shape, Scalar minval, Scalar maxval, UniformOptions o = {}) {
  o.minval = minval, o.maxval = maxval;
  return uniform(shape, o);
}
template <std::same_as<DType> D>
Tensor uniform(const Dims& shape, Scalar minval, Scalar maxval, D dtype, UniformOptions o = {}) {
  return o.dtype = dtype, uniform(shape, minval, maxval, o);
}
/// Draws integers whose bits are all random: uint32, uint64, int32 or int64. gradient: none
TANDEM_API Tensor bits(const Dims& shape, BitsOptions options = {});

inline Tensor Generator::normal(const Dims& shape, NormalOptions o) const {
  return o.generator = this, random::normal(shape, std::move(o));
}
inline Tensor Generator::normal(const Dims& shape) const { return normal(shape, NormalOptions{}); }
inline Tensor Generator::truncated_normal(const Dims& shape, NormalOptions o) const {
  return o.generator = this, random::truncated_normal(shape, std::move(o));
}
inline Tensor Generator::truncated_normal(const Dims& shape) const { return truncated_normal(shape, NormalOptions{}); }
inline Tensor Generator::uniform(const Dims& shape, UniformOptions o) const {
  return o.generator = this, random::uniform(shape, std::move(o));
}
inline Tensor Generator::uniform(const Dims& shape) const { return uniform(shape, UniformOptions{}); }
inline Tensor Generator::uniform(const Dims& shape, Scalar minval, Scalar maxval, UniformOptions o) const {
  o.minval = minval, o.maxval = maxval;
  return uniform(shape, std::move(o));
}
inline Tensor Generator::uniform(const Dims& shape, Scalar minval, Scalar maxval) const {
  return uniform(shape, minval, maxval, UniformOptions{});
}

/// A seed of two numbers, or a tensor that holds them (int64[2], int32[2]).
class Seed {
 public:
  TANDEM_API Seed(std::initializer_list<i64> two);
  Seed(const std::array<i64, 2>& two) : Seed({two[0], two[1]}) {}
  template <std::same_as<Tensor> T>
  Seed(const T& two) : key_(two) {}
  /// The seed as int64[2]. Throws errors::InvalidArgumentError for anything other than two integers.
  TANDEM_API Tensor key(const char* op) const;

 private:
  Tensor key_;
};
namespace impl {
// The key of a stateless function, whose options must have no other source.
template <class Options>
Tensor stateless_key(const char* op, const Seed& seed, const Options& o) {
  if (o.seed || o.generator)
    errors::raise<errors::InvalidArgumentError>(
        op, std::string("takes its seed as an argument, not as ") + (o.seed ? ".seed" : ".generator"));
  return seed.key(op);
}
}  // namespace impl
/// Draw random numbers as pure functions of shape and seed: every call returns the same numbers.
///   throws    as the functions without a seed, and errors::InvalidArgumentError if `.seed` or `.generator` is given
TANDEM_API Tensor stateless_normal(const Dims& shape, const Seed& seed, NormalOptions options = {});
TANDEM_API Tensor stateless_truncated_normal(const Dims& shape, const Seed& seed, NormalOptions options = {});
TANDEM_API Tensor stateless_uniform(const Dims& shape, const Seed& seed, UniformOptions options = {});
TANDEM_API Tensor stateless_bits(const Dims& shape, const Seed& seed, BitsOptions options = {});

}  // namespace TANDEM_NS::random
namespace TANDEM_NS {
TANDEM_OPS(draw_ops, random_uniform, random_normal, truncated_normal, random_bits, random_advance)
}  // namespace TANDEM_NS
