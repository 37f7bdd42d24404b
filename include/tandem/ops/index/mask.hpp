// Conversion between masks and indices: one_hot, where(cond), boolean_mask. Not here: where(cond, a, b), which is
// pointwise.
#pragma once
#include "tandem/base/scalar.hpp"
#include "tandem/core/apply.hpp"

namespace TANDEM_NS {

/// A number, or a scalar tensor through which gradients flow.
class OneHotValue {
 public:
  template <class T>
    requires std::is_arithmetic_v<T> OneHotValue(T x) : number_(x) {}
    OneHotValue(const Tensor& t) : tensor_(t) {}
    const Tensor& tensor() const { return tensor_; }
    Scalar number() const { return number_; }

   private:
    Scalar number_ = 0;
    Tensor tensor_;
};
struct OneHotOptions {
  TANDEM_OP_OPTIONS;
  OneHotValue on_value = 1;
  OneHotValue off_value = 0;
  i64 axis = -1;                 ///< position of the new axis in the result
  DType dtype = DType::float32;  ///< of the result; values that are tensors must have it
};
/// Creates a one-hot encoding: on_value at the index along the new axis, off_value elsewhere. An index outside [0,
/// depth) gives off_value everywhere.
///   indices   int32 or int64, any shape
///   returns   shape of indices with a new axis of size depth
///   throws    errors::InvalidArgumentError for a negative depth
///   gradient  to on_value and off_value
TANDEM_API Tensor one_hot(const Tensor& indices, i64 depth, OneHotOptions = {});

/// Returns the indices of the true (or nonzero) elements, in row-major order.
///   cond      bool_ or numbers, any shape
///   returns   int64, shape [n, rank]
///   gradient  none (non-differentiable)
TANDEM_API Tensor where(const Tensor& cond, OpOptions = {});

struct BooleanMaskOptions {
  TANDEM_OP_OPTIONS;
  i64 axis = 0;
};
/// Selects the slices of x where the mask is true. The mask covers the axes of x from `.axis` on.
///   mask      bool_, with the shape of these axes
///   returns   shape x.shape[:axis] + [n] + x.shape[axis + mask.rank:], dtype of x
///   throws    errors::InvalidArgumentError if the shapes do not match
///   gradient  to x: g at the true elements
TANDEM_API Tensor boolean_mask(const Tensor& x, const Tensor& mask, BooleanMaskOptions = {});

TANDEM_OPS(mask_ops, one_hot, where)

namespace rules {
struct OneHotAttrs {
  i64 depth, axis;
  TANDEM_ATTRS(OneHotAttrs, depth, axis);
};
}  // namespace rules
}  // namespace TANDEM_NS
