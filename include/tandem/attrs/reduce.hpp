// The attributes of reductions and scans, shared by the ops and the kernels in cpu/.
#pragma once
#include "tandem/attrs/attrs.hpp"
#include "tandem/base/spec.hpp"

namespace TANDEM_NS {

struct ReduceAttrs {
  Axes axis;  // default: all axes
  bool keepdims = false;
  static constexpr auto fields =
      field_list(field("axis", &ReduceAttrs::axis), field("keepdims", &ReduceAttrs::keepdims));
};
/// Returns the spec of x without the reduced axes.
///  throws  errors::InvalidArgumentError for an axis out of range or listed twice
inline Spec reduced_spec(const char* op, const Spec& x, const ReduceAttrs& a) {
  const std::uint32_t mask = a.axis.mask(op, x.shape.rank());
  Spec y{Shape{}, x.dtype, x.device};
  for (int d = 0; d < x.shape.rank(); ++d) {
    if (!(mask >> d & 1u)) y.shape.push(x.shape.dim(d));
    else if (a.keepdims) y.shape.push(1);
  }
  return y;
}

/// How a smaller shape broadcasts to a larger one: `axis` lists the axes of the larger shape that the smaller one
/// lacks (default: all). The others are matched from the trailing axis, and size 1 in the smaller shape matches any
/// size.
struct LikeAttrs {
  Axes axis;
  static constexpr auto fields = field_list(field("axis", &LikeAttrs::axis));
};

struct SizeAttrs {
  Axes axis;
  DType dtype;
  static constexpr auto fields = field_list(field("axis", &SizeAttrs::axis), field("dtype", &SizeAttrs::dtype));
};

struct ArgAttrs {
  i64 axis;
  DType output_type;
  static constexpr auto fields =
      field_list(field("axis", &ArgAttrs::axis), field("output_type", &ArgAttrs::output_type));
};

struct ScanAttrs {
  i64 axis;
  bool exclusive, reverse;
  static constexpr auto fields = field_list(field("axis", &ScanAttrs::axis), field("exclusive", &ScanAttrs::exclusive),
                                            field("reverse", &ScanAttrs::reverse));
};

}  // namespace TANDEM_NS
