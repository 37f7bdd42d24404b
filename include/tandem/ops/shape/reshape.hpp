// The reshape family, all O(1) views of the same storage: reshape, expand_dims, squeeze, collapse_dims, nn::flatten,
// identity, stop_gradient.
// Not here: reshape_like (ops/reduce/like), slices (slice.hpp).
#pragma once
#include "tandem/base/axes.hpp"
#include "tandem/core/apply.hpp"
#include "tandem/ops/dims.hpp"

namespace TANDEM_NS {

/// Changes the shape of a tensor; the elements keep their row-major order.
///   x         any dtype
///   dims      same number of elements as x; at most one entry may be -1 and is computed from the others; entries
///             may be scalar tensors
///   returns   a view of x, O(1)
///   throws    errors::InvalidArgumentError if the numbers of elements differ, or if -1 is ambiguous because another
///             entry is 0
///   gradient  g reshaped to x's shape
TANDEM_API Tensor reshape(const Tensor& x, const Dims& dims, OpOptions = {});
/// Inserts an axis of size 1 before `axis`, which is in [-rank-1, rank]. Returns a view. gradient: g reshaped to x's
/// shape
TANDEM_API Tensor expand_dims(const Tensor& x, i64 axis, OpOptions = {});

struct SqueezeOptions {
  TANDEM_OP_OPTIONS;
  Axes axis = {};  ///< default: all axes of size 1
};
/// Removes axes of size 1: all of them, or those in `.axis`. Returns a view.
///   throws    errors::InvalidArgumentError if a specified axis has another size
///   gradient  g reshaped to x's shape
TANDEM_API Tensor squeeze(const Tensor& x, SqueezeOptions = {});
TANDEM_AXES_OVERLOADS(squeeze, SqueezeOptions, axis)

/// Merges groups of adjacent axes into one axis each. Returns a view. collapse_dims(x, {{0}, {1, 2}}) of [N,10,32]
/// has shape [N,320].
///   groups    every axis exactly once, in order
///   gradient  g reshaped to x's shape
TANDEM_API Tensor collapse_dims(const Tensor& x, std::initializer_list<std::initializer_list<i64>> groups,
                                OpOptions = {});
/// Merges the leading `axes` axes into one. Returns a view. gradient: g reshaped to x's shape
TANDEM_API Tensor collapse_leading(const Tensor& x, int axes, OpOptions = {});
namespace nn {
/// Merges all axes except axis 0 into one: [N, ...] to [N, size / N]. Returns a view. gradient: g reshaped to x's
/// shape
TANDEM_API Tensor flatten(const Tensor& x, OpOptions = {});
}  // namespace nn

/// Returns the same value as a new tensor object, a view. gradient: g
TANDEM_API Tensor identity(const Tensor& x, OpOptions = {});
/// Returns the same value and stops gradients. gradient: none (non-differentiable)
TANDEM_API Tensor stop_gradient(const Tensor& x, OpOptions = {});

TANDEM_OPS(reshape_ops, reshape, reshape_dynamic, expand_dims, squeeze, collapse_dims, identity, stop_gradient)

namespace rules {
struct ReshapeAttrs {
  Shape dims;
  TANDEM_ATTRS(ReshapeAttrs, dims);
};
struct AxisAttrs {
  i64 axis;
  TANDEM_ATTRS(AxisAttrs, axis);
};
struct AxesAttrs {
  Axes axis;
  TANDEM_ATTRS(AxesAttrs, axis);
};
struct CollapseAttrs {
  Shape counts;  // the number of axes in each group
  TANDEM_ATTRS(CollapseAttrs, counts);
};
}  // namespace rules

namespace detail {
/// The gradient of ops that return x: g.
Grads pass_back(const GradCall& c);
}  // namespace detail
}  // namespace TANDEM_NS
