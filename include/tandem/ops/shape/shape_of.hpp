// What is known of a value's shape, as tensors: shape, rank, size; get_shape, which mixes numbers and tensors in a
// trace. Not here: x.shape(), which reads the numbers at once.
#pragma once
#include <vector>

#include "tandem/core/apply.hpp"
#include "tandem/ops/dims.hpp"

namespace TANDEM_NS {

struct ShapeOptions {
  TANDEM_OP_OPTIONS;
  DType out_type = DType::int32;  ///< int32 or int64
};
/// x's sizes as a host tensor of shape [rank].
///   throws    errors::InvalidArgumentError for a size that int32 does not hold (take .out_type = int64)
///   gradient  none (blocked)
TANDEM_API Tensor shape(const Tensor& x, ShapeOptions = {});
/// How many axes x has, a host int32 scalar. gradient: none (blocked)
TANDEM_API Tensor rank(const Tensor& x, OpOptions = {});
/// How many elements x has, a host scalar; throws as shape. gradient: none (blocked)
TANDEM_API Tensor size(const Tensor& x, ShapeOptions = {});

/// x's sizes, each as far as it is known now; they can be entries of reshape's dims.
TANDEM_API std::vector<DimValue> get_shape(const Tensor& x);
/// x itself, if its shape agrees with `shape` (open dims agree with anything); a view. In a trace the result has the
/// numbers of both, and every call checks them, whether the result is used or not.
///   throws    errors::InvalidArgumentError with both shapes if they do not agree
///   gradient  g
TANDEM_API Tensor ensure_shape(const Tensor& x, const Shape& shape, OpOptions = {});

extern TANDEM_API const OpDef shape_op, rank_op, size_op, ensure_shape_op;
inline constexpr const OpDef* shape_of_ops[] = {&shape_op, &rank_op, &size_op, &ensure_shape_op};

namespace rules {
struct ShapeAttrs {
  DType out_type;
  static constexpr auto fields = field_list(field("out_type", &ShapeAttrs::out_type));
};
struct EnsureShapeAttrs {
  Shape shape;
  static constexpr auto fields = field_list(field("shape", &EnsureShapeAttrs::shape));
};
}  // namespace rules
}  // namespace TANDEM_NS
