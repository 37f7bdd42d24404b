// The attributes of reductions and scans, shared by the ops and the kernels in cpu/.
#pragma once
#include "tandem/attrs/attrs.hpp"
#include "tandem/base/spec.hpp"

namespace TANDEM_NS {

namespace rules {
struct ReduceAttrs {
  Axes axis;  // default: all axes
  bool keepdims = false;
  TANDEM_ATTRS(ReduceAttrs, axis, keepdims);
};
}  // namespace rules
/// Returns the spec of x without the reduced axes.
///  throws  errors::InvalidArgumentError for an axis out of range or listed twice
inline Spec reduced_spec(const char* op, const Spec& x, const rules::ReduceAttrs& a) {
  const std::uint32_t mask = a.axis.mask(op, x.shape.rank());
  Spec y{Shape{}, x.dtype, x.device};
  for (int d = 0; d < x.shape.rank(); ++d) {
    if (!(mask >> d & 1u)) y.shape.push_back(x.shape.dim(d));
    else if (a.keepdims) y.shape.push_back(1);
  }
  return y;
}

namespace rules {
/// How a smaller shape broadcasts to a larger one: `axis` lists the axes of the larger shape that the smaller one
/// lacks (default: all). The others are matched from the trailing axis, and size 1 in the smaller shape matches any
/// size.
struct LikeAttrs {
  Axes axis;
  TANDEM_ATTRS(LikeAttrs, axis);
};

struct SizeAttrs {
  Axes axis;
  DType dtype;
  TANDEM_ATTRS(SizeAttrs, axis, dtype);
};

struct ArgAttrs {
  i64 axis;
  DType output_type;
  TANDEM_ATTRS(ArgAttrs, axis, output_type);
};

struct ScanAttrs {
  i64 axis;
  bool exclusive, reverse;
  TANDEM_ATTRS(ScanAttrs, axis, exclusive, reverse);
};
}  // namespace rules

}  // namespace TANDEM_NS
