// Definitions of layers/spectral_normalization.hpp.
#pragma once
#include <string>

#include "tandem/layers/spectral_normalization.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/half.hpp"
#include "tandem/ops/linalg/matmul.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/reduce/reduce.hpp"
#include "tandem/ops/reduce/statistics.hpp"
#include "tandem/ops/shape/reshape.hpp"

namespace TANDEM_NS::layers::detail {

TANDEM_INLINE Variable kernel_of(const Module& layer) {
  Variable found;
  std::string names;
  int count = 0;
  for (const Module::Named& n : layer.named_variables()) {
    names += (names.empty() ? "" : ", ") + n.path;
    if (n.path.find('/') != n.path.npos || !(n.path == "embeddings" || n.path.ends_with("kernel"))) continue;
    found = n.variable;
    ++count;
  }
  if (count != 1)
    errors::raise<errors::InvalidArgumentError>(
        "SpectralNormalization", "needs a layer with one kernel, or embeddings; this one has " +
                                     (names.empty() ? std::string("no Variables") : "the Variables " + names));
  return found;
}
TANDEM_INLINE void divide_by_spectral_norm(const Variable& kernel, const Variable& u, i64 iterations) {
  const tandem::detail::Unobserved quiet;
  const tandem::detail::ShapeChecks lenient(false);
  // Divided by the largest absolute element, so that squares neither overflow nor underflow. Zeros stay.
  const auto scaled = [](const Tensor& x) {
    const Tensor peak = reduce_max(abs(x));
    return x / where(peak > 0, peak, 1);
  };
  const auto unit = [&](const Tensor& x) {
    const Tensor y = scaled(x);
    return y / maximum(reduce_euclidean_norm(y), 1);
  };
  const Tensor all = tandem::detail::widened(kernel.read_value()), before = tandem::detail::widened(u.read_value());
  const Tensor part = scaled(all), matrix = reshape(part, {-1, kernel.shape().dim(-1)});
  Tensor right = before, left;
  for (i64 i = 0; i < iterations; ++i) {
    left = unit(matmul(right, matrix, {.transpose_b = true}));
    right = unit(matmul(left, matrix));
  }
  const Tensor largest = reduce_sum(matmul(left, matrix) * right);
  const Tensor some = largest > 0;  // not for a kernel of zeros, nor for a u that is orthogonal to all rows
  // Computed before the first assignment.
  const Tensor next = cast(where(some, part / largest, all), kernel.dtype());
  const Tensor next_u = cast(where(some, right, before), u.dtype());
  kernel.assign(next);
  u.assign(next_u);
}

}  // namespace TANDEM_NS::layers::detail
