// Definitions of ops/reduce/reduce.hpp.
#pragma once
#include "tandem/ops/cast.hpp"
#include "tandem/ops/half.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/reduce/reduce.hpp"
#include "tandem/ops/reduce/row.hpp"
#include "tandem/ops/reduce/scan.hpp"

namespace TANDEM_NS {
namespace detail {

TANDEM_INLINE Grads gradient_sum(const GradCall& c) { return Grads(Gradient(spread_back(c, c.g[0]))); }
// A count may be beyond the range or the precision of half precision.
TANDEM_INLINE Grads gradient_mean(const GradCall& c) {
  const Tensor g = widened(c.g[0]), n = size_over(c.in[0], c.get<rules::ReduceAttrs>().axis, g.dtype());
  return Grads(Gradient(spread_back(c, cast(g / n, c.g[0].dtype()))));
}
// Computed axis by axis. The product of the other elements is the product of those before times the product of those
// after, so zeros need no special case.
TANDEM_INLINE Grads gradient_prod(const GradCall& c) {
  const rules::ReduceAttrs& a = c.get<rules::ReduceAttrs>();
  const std::uint32_t mask = a.axis.mask(c.op.name, c.in[0].rank());
  InlinedVector<Tensor, 8> partial(c.in[0]);
  InlinedVector<int, 8> axes;
  for (int d = 0; d < c.in[0].rank(); ++d)
    if (mask >> d & 1u) {
      axes.push_back(d);
      partial.push_back(reduce_prod(partial.back(), {.axis = d, .keepdims = true}));
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
  const rules::ReduceAttrs& a = c.get<rules::ReduceAttrs>();
  const Tensor g = widened(c.g[0]), tie = cast(equal(c.in[0], spread_back(c, c.out[0])), g.dtype());
  const Tensor ties = reduce_sum(tie, {.axis = a.axis, .keepdims = a.keepdims});
  return Grads(Gradient(cast(spread_back(c, g / ties) * tie, c.g[0].dtype())));
}

}  // namespace detail

TANDEM_REDUCTION(reduce_sum, .gradient = &detail::gradient_sum, .dtypes = dtypes::number | DType::complex128,
                 .saves = Saves::shape, .flags = {.takes_half = kernels_take_half})
TANDEM_REDUCTION(reduce_mean, .gradient = &detail::gradient_mean, .workspace = &detail::value_an_output,
                 .dtypes = dtypes::number | DType::complex128, .saves = Saves::shape,
                 .flags = {.takes_half = kernels_take_half})
TANDEM_REDUCTION(reduce_prod, .gradient = &detail::gradient_prod, .dtypes = dtypes::number | DType::complex128,
                 .saves = Saves::inputs)
TANDEM_REDUCTION(reduce_max, .gradient = &detail::gradient_extreme, .dtypes = dtypes::real, .saves = Saves::all,
                 .flags = {.takes_half = kernels_take_half})
TANDEM_REDUCTION(reduce_min, .gradient = &detail::gradient_extreme, .dtypes = dtypes::real, .saves = Saves::all,
                 .flags = {.takes_half = kernels_take_half})
TANDEM_REDUCTION(reduce_any, .dtypes = dtypes::boolean, .saves = Saves::nothing, .flags = {.non_differentiable = true})
TANDEM_REDUCTION(reduce_all, .dtypes = dtypes::boolean, .saves = Saves::nothing, .flags = {.non_differentiable = true})

}  // namespace TANDEM_NS
