// Shapes as tensors: shape, shape_n, rank, size; get_shape, which mixes numbers and tensors in a trace; and the shapes
// to which two others broadcast. Not here: x.shape(), which reads the numbers immediately.
#pragma once
#include <vector>

#include "tandem/core/apply.hpp"
#include "tandem/ops/dims.hpp"
#include "tandem/ops/tensor_list.hpp"

namespace TANDEM_NS {

struct ShapeOptions {
  TANDEM_OP_OPTIONS;
  DType out_type = DType::int32;  ///< int32 or int64
};
/// Returns the shape of x as a host tensor of shape [rank].
///   throws    errors::InvalidArgumentError for a size that int32 cannot represent (use .out_type = int64)
///   gradient  none (non-differentiable)
TANDEM_API Tensor shape(const Tensor& x, ShapeOptions = {});
/// Returns the rank of x as a host int32 scalar. gradient: none (non-differentiable)
TANDEM_API Tensor rank(const Tensor& x, OpOptions = {});
/// Returns the number of elements of x as a host scalar. Errors as shape. gradient: none (non-differentiable)
TANDEM_API Tensor size(const Tensor& x, ShapeOptions = {});
/// Returns the shapes of several tensors: shape(x) for each.
TANDEM_API std::vector<Tensor> shape_n(const TensorList& list, ShapeOptions = {});

/// Returns the shape to which two shapes broadcast. Unknown dimensions are compatible with any size.
///   throws    errors::InvalidArgumentError with both shapes if they do not broadcast
TANDEM_API Shape broadcast_static_shape(const Shape& a, const Shape& b, OpOptions = {});
/// Returns the shape to which two shapes broadcast, which are known when the op runs.
///   a, b      int32 or int64 vectors of one dtype, on the host
///   returns   a host vector of that dtype, as long as the longer one
///   throws    errors::InvalidArgumentError with both shapes if they do not broadcast
///   gradient  none (non-differentiable)
TANDEM_API Tensor broadcast_dynamic_shape(const Tensor& a, const Tensor& b, OpOptions = {});

/// Returns the dimensions of x, as numbers where they are known now and as scalar tensors elsewhere. They can be
/// used as entries of reshape's dims.
TANDEM_API std::vector<DimValue> get_shape(const Tensor& x);
/// Checks that x's shape is compatible with `shape` (unknown dimensions match any size), and returns x as a view. In
/// a trace the result has the known dimensions of both, and every call checks them, whether or not the result is
/// used.
///   throws    errors::InvalidArgumentError with both shapes if they are not compatible
///   gradient  g
TANDEM_API Tensor ensure_shape(const Tensor& x, const Shape& shape, OpOptions = {});

namespace detail {
/// Checks that axis axes[k] of x has the size of axis others[k] of `like`, for each k, and returns x. Where one of the
/// sizes is not known in a trace it is checked by every call, whose result is a view.
///   throws    errors::InvalidArgumentError if sizes differ
///   gradient  g
TANDEM_API Tensor same_dims(const Tensor& x, const Shape& axes, const Tensor& like, const Shape& others);
/// Applies shape, rank or size to x. In a trace a result that is known is computed immediately, so that ops which take
/// it as a shape know theirs, too; not one with a name, which the graph then has.
Tensor sizes_of(const OpDef& op, const Attrs& attrs, const OpOptions& o, const Tensor& x, bool known);
}  // namespace detail

TANDEM_OPS(shape_of_ops, shape, rank, size, ensure_shape, same_dims, broadcast_dynamic_shape)

namespace rules {
struct ShapeAttrs {
  DType out_type;
  TANDEM_ATTRS(ShapeAttrs, out_type);
};
struct EnsureShapeAttrs {
  Shape shape;
  TANDEM_ATTRS(EnsureShapeAttrs, shape);
};
struct SameDimsAttrs {
  Shape axes, others;  // of the first and the second input, in pairs
  TANDEM_ATTRS(SameDimsAttrs, axes, others);
};
}  // namespace rules
}  // namespace TANDEM_NS
