// Reductions that join elements: reduce_sum, reduce_mean, reduce_prod, reduce_max, reduce_min, reduce_any, reduce_all.
// Not here: logsumexp, variance, norms, counts (statistics.hpp), argmax (arg.hpp), running sums (scan.hpp).
#pragma once
#include "tandem/ops/reduce/options.hpp"

namespace TANDEM_NS {

/// The sum over axes.
///   x         numbers, any shape; integers wrap, floats are summed in blocks
///   returns   x's shape without the reduced axes (with size 1 there if .keepdims), x's dtype; 0 over nothing
///   throws    errors::InvalidArgumentError for an axis out of range or given twice
///   gradient  g, repeated
TANDEM_API Tensor reduce_sum(const Tensor& x, ReduceOptions = {});
/// The mean over axes; shapes and errors as reduce_sum. Integers are summed in 64 bits and truncate toward zero.
///   returns   NaN over nothing
///   throws    also errors::InvalidArgumentError for the mean of no integers
///   gradient  g / n, repeated
TANDEM_API Tensor reduce_mean(const Tensor& x, ReduceOptions = {});
/// The product over axes; shapes, dtypes and errors as reduce_sum; 1 over nothing.
///   gradient  g times the product of the others, with any number of zeros
TANDEM_API Tensor reduce_prod(const Tensor& x, ReduceOptions = {});
/// The largest element over axes; shapes and errors as reduce_sum.
///   x         real numbers; NaN passes on
///   returns   -inf (integers: the lowest value) over nothing
///   gradient  g, shared equally among ties
TANDEM_API Tensor reduce_max(const Tensor& x, ReduceOptions = {});
/// The smallest element over axes; as reduce_max; +inf (the highest integer) over nothing.
TANDEM_API Tensor reduce_min(const Tensor& x, ReduceOptions = {});
/// Is any element true? bool_; false over nothing. Shapes and errors as reduce_sum. gradient: none (blocked)
TANDEM_API Tensor reduce_any(const Tensor& x, ReduceOptions = {});
/// Are all elements true? bool_; true over nothing. Shapes and errors as reduce_sum. gradient: none (blocked)
TANDEM_API Tensor reduce_all(const Tensor& x, ReduceOptions = {});

TANDEM_AXIS_OVERLOAD(reduce_sum)
TANDEM_AXIS_OVERLOAD(reduce_mean)
TANDEM_AXIS_OVERLOAD(reduce_prod)
TANDEM_AXIS_OVERLOAD(reduce_max)
TANDEM_AXIS_OVERLOAD(reduce_min)
TANDEM_AXIS_OVERLOAD(reduce_any)
TANDEM_AXIS_OVERLOAD(reduce_all)

extern TANDEM_API const OpDef reduce_sum_op, reduce_mean_op, reduce_prod_op, reduce_max_op, reduce_min_op,
    reduce_any_op, reduce_all_op;
inline constexpr const OpDef* reduce_ops[] = {&reduce_sum_op, &reduce_mean_op, &reduce_prod_op, &reduce_max_op,
                                              &reduce_min_op, &reduce_any_op,  &reduce_all_op};

}  // namespace TANDEM_NS

#ifdef TANDEM_IMPLEMENT_REDUCE
#include "tandem/ops/cast.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/reduce/row_impl.hpp"
#include "tandem/ops/reduce/scan.hpp"
namespace TANDEM_NS {
namespace detail {

TANDEM_INLINE Grads gradient_sum(const GradCall& c) { return Grads(Gradient(spread_back(c, c.g[0]))); }
TANDEM_INLINE Grads gradient_mean(const GradCall& c) {
  const Tensor n = size_over(c.in[0], c.get<ReduceAttrs>().axis, c.g[0].dtype());
  return Grads(Gradient(spread_back(c, c.g[0] / n)));
}
// Axis by axis: the product of the others is the one before times the one behind, so zeros need no care.
TANDEM_INLINE Grads gradient_prod(const GradCall& c) {
  const ReduceAttrs& a = c.get<ReduceAttrs>();
  const std::uint32_t mask = a.axis.mask(c.op.name, c.in[0].rank());
  Small<Tensor, 8> partial(c.in[0]);
  Small<int, 8> axes;
  for (int d = 0; d < c.in[0].rank(); ++d)
    if (mask >> d & 1u) {
      axes.push(d);
      partial.push(reduce_prod(partial.back(), {.axis = d, .keepdims = true}));
    }
  Tensor g = broadcast_like(c.g[0], partial.back(), lost_axes(a));
  for (unsigned i = axes.size(); i-- > 0;) {
    const Tensor before = cumprod(partial[i], {.axis = axes[i], .exclusive = true});
    const Tensor behind = cumprod(partial[i], {.axis = axes[i], .exclusive = true, .reverse = true});
    g = times_conjugate(g, before * behind);
  }
  return Grads(Gradient(g));
}
TANDEM_INLINE Grads gradient_extreme(const GradCall& c) {
  const ReduceAttrs& a = c.get<ReduceAttrs>();
  const Tensor tie = cast(equal(c.in[0], spread_back(c, c.out[0])), c.g[0].dtype());
  const Tensor ties = reduce_sum(tie, {.axis = a.axis, .keepdims = a.keepdims});
  return Grads(Gradient(spread_back(c, c.g[0] / ties) * tie));
}

}  // namespace detail

TANDEM_REDUCTION(reduce_sum, .gradient = &detail::gradient_sum, .dtypes = dtypes::number, .saves = Saves::shape)
TANDEM_REDUCTION(reduce_mean, .gradient = &detail::gradient_mean, .workspace = &detail::value_an_output,
                 .dtypes = dtypes::number, .saves = Saves::shape)
TANDEM_REDUCTION(reduce_prod, .gradient = &detail::gradient_prod, .dtypes = dtypes::number, .saves = Saves::inputs)
TANDEM_REDUCTION(reduce_max, .gradient = &detail::gradient_extreme, .dtypes = dtypes::real, .saves = Saves::all)
TANDEM_REDUCTION(reduce_min, .gradient = &detail::gradient_extreme, .dtypes = dtypes::real, .saves = Saves::all)
TANDEM_REDUCTION(reduce_any, .dtypes = dtypes::boolean, .saves = Saves::nothing, .flags = {.blocked = true})
TANDEM_REDUCTION(reduce_all, .dtypes = dtypes::boolean, .saves = Saves::nothing, .flags = {.blocked = true})

}  // namespace TANDEM_NS
#endif
