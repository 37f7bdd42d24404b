// Between masks and indices: one_hot, where(cond), boolean_mask. Not here: where(cond, a, b), which is pointwise.
#pragma once
#include "tandem/base/scalar.hpp"
#include "tandem/core/apply.hpp"

namespace TANDEM_NS {

/// A number, or a scalar tensor that a gradient may flow to.
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
  i64 axis = -1;                 ///< where the new axis stands in the result
  DType dtype = DType::float32;  ///< of the result; tensors given as values have it already
};
/// off_value everywhere, but on_value where the new axis's place is the index; an index outside [0, depth) gives none.
///   indices   int32 or int64, any shape
///   returns   indices.shape with an axis of size depth
///   throws    errors::InvalidArgumentError for a negative depth
///   gradient  to on_value and off_value
TANDEM_API Tensor one_hot(const Tensor& indices, i64 depth, OneHotOptions = {});

/// The places of the true (or nonzero) elements, row by row.
///   cond      bool or numbers, any shape
///   returns   int64 [n, rank]
///   gradient  none (blocked)
TANDEM_API Tensor where(const Tensor& cond, OpOptions = {});

struct BooleanMaskOptions {
  TANDEM_OP_OPTIONS;
  i64 axis = 0;
};
/// The slices of x at the true elements of the mask, which covers the axes from `.axis` on.
///   mask      bool, of the shape of these axes
///   returns   x.shape[:axis] + [n] + the axes behind the mask's
///   throws    errors::InvalidArgumentError if the shapes do not match
///   gradient  to x: g at the true elements
TANDEM_API Tensor boolean_mask(const Tensor& x, const Tensor& mask, BooleanMaskOptions = {});

extern TANDEM_API const OpDef one_hot_op, where_op;
inline constexpr const OpDef* mask_ops[] = {&one_hot_op, &where_op};

namespace rules {
struct OneHotAttrs {
  i64 depth, axis;
  static constexpr auto fields = field_list(field("depth", &OneHotAttrs::depth), field("axis", &OneHotAttrs::axis));
};
}  // namespace rules
}  // namespace TANDEM_NS
