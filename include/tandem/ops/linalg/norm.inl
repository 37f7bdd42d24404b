// Definitions of ops/linalg/norm.hpp.
#pragma once
#include <cmath>
#include <string_view>

#include "tandem/core/scope.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/linalg/norm.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/pointwise/exp.hpp"
#include "tandem/ops/reduce/reduce.hpp"
#include "tandem/ops/reduce/statistics.hpp"
#include "tandem/ops/shape/reshape.hpp"
#include "tandem/util/format.hpp"

namespace TANDEM_NS {

TANDEM_INLINE NormOrder::NormOrder(const char* text) {
  const std::string_view name(text);
  if (name == "euclidean") kind_ = euclidean;
  else if (name == "fro") kind_ = frobenius;
  else if (name == "nuc") kind_ = nuclear;
  else if (name == "inf") kind_ = power, p_ = INFINITY;
  else
    errors::raise<errors::InvalidArgumentError>(
        "norm", "unknown order \"" + std::string(name) + "\" (\"euclidean\", \"fro\", \"nuc\", or a number)");
}

namespace detail {

// x is real and not negative. The largest element is taken out first, so that powers neither overflow nor vanish; as a
// factor of a homogeneous function it needs no gradient.
TANDEM_INLINE Tensor power_norm(const Tensor& x, double p, const Axes& axis) {
  const Tensor top = stop_gradient(reduce_max(x, {.axis = axis, .keepdims = true}));
  const Tensor scale = where(logical_and(greater(top, 0), is_finite(top)), top, 1);
  const Tensor r = x / scale, nothing = equal(r, 0);  // whose slope would be infinite for p < 1
  const Tensor sum = reduce_sum(where(nothing, 0, pow(where(nothing, 1, r), p)), {.axis = axis, .keepdims = true});
  const Tensor zero = equal(sum, 0);
  return where(zero, 0, pow(where(zero, 1, sum), 1 / p)) * scale;
}
// The largest value; 0 if there is none.
TANDEM_INLINE Tensor largest(const Tensor& x, const Axes& axis) {
  return maximum(reduce_max(x, {.axis = axis, .keepdims = true}), 0);
}

TANDEM_INLINE Tensor vector_norm(const Tensor& x, const NormOrder& ord, const Axes& axis) {
  if (ord.kind() != NormOrder::power || ord.p() == 2)
    return reduce_euclidean_norm(is_complex(x.dtype()) ? abs(x) : x, {.axis = axis, .keepdims = true});
  const Tensor size = abs(x);
  if (ord.p() == 1) return reduce_sum(size, {.axis = axis, .keepdims = true});
  if (std::isinf(ord.p())) return largest(size, axis);
  return power_norm(size, ord.p(), axis);
}
TANDEM_INLINE Tensor matrix_norm_of_sums(const Tensor& x, const NormOrder& ord, const Axes& axis) {
  if (ord.kind() != NormOrder::power) return vector_norm(x, "fro", axis);
  const Tensor sums = reduce_sum(abs(x), {.axis = axis[ord.p() == 1 ? 0 : 1], .keepdims = true});
  return largest(sums, axis[ord.p() == 1 ? 1 : 0]);
}

TANDEM_INLINE void check_order(const Tensor& x, const NormOrder& ord, const Axes& axis) {
  const bool matrix = axis.size() == 2, power = ord.kind() == NormOrder::power;
  const std::string text = power                              ? tandem::detail::shortest_text(ord.p())
                           : ord.kind() == NormOrder::nuclear ? "nuc"
                                                              : "";
  const auto refuse = [&](const std::string& why) {
    errors::raise<errors::InvalidArgumentError>("norm", why + ": " + to_string(x.spec()));
  };
  if (!is_floating(x.dtype()) && !is_complex(x.dtype()))
    errors::raise<errors::UnimplementedError>(
        "norm", "only floating and complex dtypes have norms: " + to_string(x.spec()) + " (cast it)");
  if (axis.given() && (axis.size() == 0 || axis.size() > 2))
    refuse(std::to_string(axis.size()) + " axes; give one for vectors, two for matrices");
  (void)axis.mask("norm", x.rank());
  if (matrix && (ord.kind() == NormOrder::nuclear || (power && ord.p() == 2)))
    refuse("order " + text + " of a matrix needs singular values: linalg::norm of tandem/linalg.hpp");
  if (ord.kind() == NormOrder::frobenius && axis.size() == 1) refuse("order fro is a norm of matrices; give two axes");
  if (ord.kind() == NormOrder::nuclear) refuse("order nuc is a norm of matrices; give two axes");
  if (power && !(ord.p() > 0)) refuse("order " + text + " is not positive");
  if (matrix && power && ord.p() != 1 && !std::isinf(ord.p()))
    refuse("order " + text + " of a matrix is not defined (1, 2, inf, \"fro\", \"nuc\")");
}

}  // namespace detail

TANDEM_INLINE Tensor norm(const Tensor& x, NormOptions o) {
  const tandem::detail::CallSite call(o, "norm");
  detail::check_order(x, o.ord, o.axis);
  const Tensor y =
      o.axis.size() == 2 ? detail::matrix_norm_of_sums(x, o.ord, o.axis) : detail::vector_norm(x, o.ord, o.axis);
  if (o.keepdims) return identity(y, {o.name, o.where});
  if (!o.axis.given() && x.rank() == 0) return y;
  Axes all = o.axis;
  for (int i = 0; !o.axis.given() && i < x.rank(); ++i) all.push_back(i);
  return squeeze(y, {.name = o.name, .where = o.where, .axis = all});
}

TANDEM_INLINE linalg::Normalized linalg::normalize(const Tensor& x, NormalizeOptions o) {
  const tandem::detail::CallSite call(o);
  const Tensor n = tandem::norm(x, {.where = o.where, .ord = o.ord, .axis = o.axis, .keepdims = true});
  const Tensor safe = where(equal(n, 0), 1, n);
  return {divide(x, is_complex(x.dtype()) ? cast(safe, x.dtype()) : safe, {o.name, o.where}), n};
}

}  // namespace TANDEM_NS
