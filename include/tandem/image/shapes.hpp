// What image ops share: checks of ranks, sizes, arguments; integer images as numbers in [0, 1] and back. For
// definitions.
#pragma once
#include <array>
#include <optional>
#include <string>

#include "tandem/image/resize.hpp"
#include "tandem/ops/random/generator.hpp"

namespace TANDEM_NS::image::impl {

/// Raises InvalidArgumentError in the op's name.
[[noreturn, gnu::cold, gnu::noinline]] inline void raise(const char* op, const std::string& what) {
  errors::raise<errors::InvalidArgumentError>(op, what);
}
/// Checks that x is [height, width, channels] or [n, height, width, channels].
///   throws  errors::InvalidArgumentError, in the op's name
TANDEM_API void check_rank(const char* op, const Tensor& x);
/// Checks that the last axis of x has 3 elements, as far as it is known.
TANDEM_API void check_rgb(const char* op, const Tensor& x);
TANDEM_API void check_positive(const char* op, i64 height, i64 width);
/// Checks that `value` is in [low, high].
TANDEM_API void check_between(const char* op, const char* what, double value, double low, double high);
/// {height, width} of x, after check_rank.
///   throws  errors::InvalidArgumentError, in the op's name, in a trace where they are not known
TANDEM_API Size known_size(const char* op, const Tensor& x);

/// x as floating numbers: integers as convert_image_dtype does, half precision widened.
///   throws  errors::InvalidArgumentError for other dtypes
TANDEM_API Tensor as_floats(const char* op, const Tensor& x);
/// Numbers as an image of this dtype; the inverse.
TANDEM_API Tensor from_floats(const Tensor& x, DType dtype, const OpOptions& o);

}  // namespace TANDEM_NS::image::impl

namespace TANDEM_NS::image {

/// Options of the functions that draw random numbers.
struct RandomOptions {
  TANDEM_OP_OPTIONS;
  std::optional<i64> seed = {};                  ///< selects a separate random sequence (random::Generator)
  const random::Generator* generator = nullptr;  ///< default: the global generator
};

namespace impl {
/// A uniformly distributed float32 scalar in [low, high), in the op's name.
TANDEM_API Tensor draw(const char* op, double low, double high, const RandomOptions& o);
}  // namespace impl

}  // namespace TANDEM_NS::image
