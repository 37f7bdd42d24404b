// Running sums and products: cumsum, cumprod; and linear_scan and shift, of which cumprod's gradient is made.
#pragma once
#include "tandem/core/apply.hpp"
#include "tandem/ops/reduce/attrs.hpp"

namespace TANDEM_NS {

struct ScanOptions {
  TANDEM_OP_OPTIONS;
  int axis = 0;
  bool exclusive = false;  ///< an element's own value is left out: the first result is 0 (1 for products)
  bool reverse = false;    ///< from the end to the beginning
};

/// Running sums along an axis: y[i] = x[0] + ... + x[i].
///   x         numbers, rank >= 1; integers wrap
///   returns   x's shape and dtype
///   throws    errors::InvalidArgumentError for an axis out of range
///   gradient  cumsum(g) the other way
TANDEM_API Tensor cumsum(const Tensor& x, ScanOptions = {});
/// Running products along an axis; as cumsum. gradient: right with any number of zeros
TANDEM_API Tensor cumprod(const Tensor& x, ScanOptions = {});

TANDEM_ONE_AXIS_OVERLOAD(cumsum, ScanOptions, axis)
TANDEM_ONE_AXIS_OVERLOAD(cumprod, ScanOptions, axis)

namespace detail {
/// y[i] = b[i] + a[i] * y[i - 1] along an axis, y before the first being 0; y[i + 1] in reverse. Floating or complex.
TANDEM_API Tensor linear_scan(const Tensor& a, const Tensor& b, int axis, bool reverse);
/// y[i] = x[i - 1] along an axis, 0 first; x[i + 1], 0 last, in reverse.
TANDEM_API Tensor shift(const Tensor& x, int axis, bool reverse);
}  // namespace detail

extern TANDEM_API const OpDef cumsum_op, cumprod_op, linear_scan_op, shift_op;
inline constexpr const OpDef* scan_ops[] = {&cumsum_op, &cumprod_op, &linear_scan_op, &shift_op};

}  // namespace TANDEM_NS
