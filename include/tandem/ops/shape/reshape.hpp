// The reshape family, all O(1) views of the same storage: reshape, expand_dims, squeeze, collapse_dims, nn::flatten,
// identity, stop_gradient. Not here: reshape_like (ops/reduce/like), slices (slice.hpp).
#pragma once
#include "tandem/base/axes.hpp"
#include "tandem/core/apply.hpp"
#include "tandem/ops/dims.hpp"

namespace TANDEM_NS {

/// The same elements, row by row, under another shape.
///   x         any dtype
///   dims      as many elements as x; at most one entry is -1 and follows from the others; scalar tensors among them
///   returns   a view of x, O(1)
///   throws    errors::InvalidArgumentError if the sizes differ, or if -1 stands beside a 0 and cannot be told
///   gradient  g in x's shape
TANDEM_API Tensor reshape(const Tensor& x, const Dims& dims, OpOptions = {});
/// A new axis of size 1 before `axis` in [-rank-1, rank]; a view. gradient: g in x's shape
TANDEM_API Tensor expand_dims(const Tensor& x, i64 axis, OpOptions = {});

struct SqueezeOptions {
  TANDEM_OP_OPTIONS;
  Axes axis = {};  ///< not given: every axis of size 1
};
/// Without the axes of size 1 (or those of them named by `.axis`); a view.
///   throws    errors::InvalidArgumentError if a named axis has another size
///   gradient  g in x's shape
TANDEM_API Tensor squeeze(const Tensor& x, SqueezeOptions = {});
TANDEM_AXES_OVERLOADS(squeeze, SqueezeOptions, axis)

/// Groups of adjacent axes made into one axis each; a view. collapse_dims(x, {{0}, {1, 2}}) of [N,10,32] is [N,320].
///   groups    every axis exactly once, in order
///   gradient  g in x's shape
TANDEM_API Tensor collapse_dims(const Tensor& x, std::initializer_list<std::initializer_list<i64>> groups,
                                OpOptions = {});
/// The leading `axes` axes made into one; a view. gradient: g in x's shape
TANDEM_API Tensor collapse_leading(const Tensor& x, int axes, OpOptions = {});
namespace nn {
/// Axis 0 kept, all others made into one: [N, ...] to [N, size / N]; a view. gradient: g in x's shape
TANDEM_API Tensor flatten(const Tensor& x, OpOptions = {});
}  // namespace nn

/// The same value as a new tensor object; a view. gradient: g
TANDEM_API Tensor identity(const Tensor& x, OpOptions = {});
/// The same value; gradients end here. gradient: none (blocked)
TANDEM_API Tensor stop_gradient(const Tensor& x, OpOptions = {});

extern TANDEM_API const OpDef reshape_op, reshape_dynamic_op, expand_dims_op, squeeze_op, collapse_dims_op, identity_op,
    stop_gradient_op;
inline constexpr const OpDef* reshape_ops[] = {&reshape_op,       &reshape_dynamic_op, &expand_dims_op,  &squeeze_op,
                                               &collapse_dims_op, &identity_op,        &stop_gradient_op};

namespace rules {
struct ReshapeAttrs {
  Shape dims;
  static constexpr auto fields = field_list(field("dims", &ReshapeAttrs::dims));
};
struct AxisAttrs {
  i64 axis;
  static constexpr auto fields = field_list(field("axis", &AxisAttrs::axis));
};
struct AxesAttrs {
  Axes axis;
  static constexpr auto fields = field_list(field("axis", &AxesAttrs::axis));
};
struct CollapseAttrs {
  Shape counts;  // how many axes each group takes
  static constexpr auto fields = field_list(field("counts", &CollapseAttrs::counts));
};
}  // namespace rules

namespace detail {
/// x with as many dims as input 1 has numbers, open but for those that were known.
Specs infer_reshape_dynamic(const InferCall& c);
/// The gradient of ops whose result is x: g.
Grads pass_back(const GradCall& c);
}  // namespace detail
}  // namespace TANDEM_NS
