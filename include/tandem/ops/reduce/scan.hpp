// Cumulative sums and products: cumsum, cumprod, cumulative_logsumexp; and the ops with which they and their gradients
// are computed: linear_scan, shift, cumulative_max.
#pragma once
#include "tandem/attrs/reduce.hpp"
#include "tandem/core/apply.hpp"

namespace TANDEM_NS {

struct ScanOptions {
  TANDEM_OP_OPTIONS;
  int axis = 0;
  bool exclusive = false;  ///< exclude the element itself: the first result is 0 (1 for products)
  bool reverse = false;    ///< accumulate from the end to the beginning
};

/// Cumulative sum along an axis: y[i] = x[0] + ... + x[i].
///   x         numbers, rank >= 1; integers wrap; the error of floats does not grow with their number
///   returns   same shape and dtype as x
///   throws    errors::InvalidArgumentError for an axis out of range
///   gradient  cumsum(g) in the opposite direction
TANDEM_API Tensor cumsum(const Tensor& x, ScanOptions = {});
/// Cumulative product along an axis; each factor is rounded once. Otherwise as cumsum. gradient: correct with any zeros
TANDEM_API Tensor cumprod(const Tensor& x, ScanOptions = {});
/// Cumulative log-sum-exp along an axis: y[i] = log(e^x[0] + ... + e^x[i]), with the largest element so far subtracted
/// first. Floating; exclusive results begin with -inf. Otherwise as cumsum.
///   gradient  e^x[i] times the sum of g[j] e^-y[j] over j >= i, computed as a recurrence that does not overflow
TANDEM_API Tensor cumulative_logsumexp(const Tensor& x, ScanOptions = {});

TANDEM_ONE_AXIS_OVERLOAD(cumsum, ScanOptions, axis)
TANDEM_ONE_AXIS_OVERLOAD(cumprod, ScanOptions, axis)
TANDEM_ONE_AXIS_OVERLOAD(cumulative_logsumexp, ScanOptions, axis)

namespace detail {
/// First-order linear recurrence along an axis: y[i] = b[i] + a[i] * y[i - 1], with 0 before the first element; with
/// y[i + 1] in reverse. Where a[i] is 0, y[i] is b[i], even if y[i - 1] is infinite or NaN. Floating or complex.
TANDEM_API Tensor linear_scan(const Tensor& a, const Tensor& b, int axis, bool reverse);
/// Shifts elements by one along an axis: y[i] = x[i - 1], with 0 first; x[i + 1], with 0 last, in reverse.
TANDEM_API Tensor shift(const Tensor& x, int axis, bool reverse);
/// Cumulative maximum along an axis. Floating; NaN propagates. gradient: none (non-differentiable)
TANDEM_API Tensor cumulative_max(const Tensor& x, int axis, bool reverse);
}  // namespace detail

TANDEM_OPS(scan_ops, cumsum, cumprod, linear_scan, shift, cumulative_max)

}  // namespace TANDEM_NS
