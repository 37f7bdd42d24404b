// Definitions of ops/rnn/last_relevant.hpp.
#pragma once
#include "tandem/core/scope.hpp"
#include "tandem/ops/debug/assert.hpp"
#include "tandem/ops/index/gather.hpp"
#include "tandem/ops/norm/layer_norm.hpp"
#include "tandem/ops/operands.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/reduce/like.hpp"
#include "tandem/ops/rnn/last_relevant.hpp"
#include "tandem/ops/shape/concat.hpp"
#include "tandem/ops/shape/reshape.hpp"
#include "tandem/ops/shape/tile.hpp"

namespace TANDEM_NS::nn {

TANDEM_INLINE Tensor last_relevant(const Tensor& outputs, const Tensor& lengths, OpOptions o) {
  const tandem::detail::CallSite call(o);
  if (outputs.rank() < 2 || lengths.rank() != 1 || !dtypes::index.has(lengths.dtype()))
    tandem::detail::raise_operands("last_relevant", "needs outputs [batch, time, ...] and integer lengths [batch]",
                                   outputs, lengths);
  using debugging::impl::Relation;
  const debugging::AssertOptions in_range{.where = o.where, .message = "lengths must be in [0, time]"};
  const Tensor time = tandem::detail::size_over(outputs, 1, lengths.dtype());
  debugging::impl::sign("last_relevant", Relation::greater_equal, lengths, in_range);
  debugging::impl::compared("last_relevant", Relation::less_equal, lengths, time, in_range);
  const Tensor zero = tandem::detail::scalar_like(0, lengths), one = tandem::detail::scalar_like(1, lengths);
  // A length of 0 reads step 0, which must exist.
  std::vector<std::pair<i64, i64>> more(static_cast<std::size_t>(outputs.rank()));
  more[1].second = 1;
  const bool exists = outputs.shape().dim(1) > 0;
  const Tensor rows = gather(exists ? outputs : pad(outputs, more), maximum(lengths - one, zero),
                             {.name = o.name, .where = o.where, .axis = 1, .batch_dims = 1});
  const Tensor runs = tandem::detail::along_axes(greater(lengths, zero), 1u, rows.rank());
  return where(runs, rows, tandem::detail::scalar_like(0, rows));
}

}  // namespace TANDEM_NS::nn
