// Definitions of ops/embedding/embedding.hpp.
#pragma once
#include "tandem/core/scope.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/create/fill.hpp"
#include "tandem/ops/embedding/embedding.hpp"
#include "tandem/ops/index/gather.hpp"
#include "tandem/ops/index/segment.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/pointwise/exp.hpp"
#include "tandem/ops/pointwise/special.hpp"
#include "tandem/ops/shape/reshape.hpp"

namespace TANDEM_NS {

TANDEM_INLINE Tensor nn::embedding_lookup_sparse(const Tensor& table, const Tensor& ids, const Tensor& segment_ids,
                                                 const Dim& num_segments, EmbeddingLookupSparseOptions o) {
  const detail::CallSite call(o);
  if (ids.rank() != 1 || segment_ids.rank() != 1 || !ids.shape().is_compatible_with(segment_ids.shape()) ||
      (o.weights.is_set() && !o.weights.shape().is_compatible_with(ids.shape())))
    errors::raise<errors::InvalidArgumentError>("nn::embedding_lookup_sparse",
                                                "ids, segment_ids and weights must be lists of one length, not " +
                                                    to_string(ids.spec()) + " and " + to_string(segment_ids.spec()) +
                                                    (o.weights.is_set() ? " and " + to_string(o.weights.spec()) : ""));
  Tensor rows = embedding_lookup(table, ids, {.max_norm = o.max_norm});
  Tensor weights = o.weights;
  const auto beside_rows = [&](Tensor t) {  // [n] or [num_segments], with the axes of a row of size 1
    for (int i = 1; i < rows.rank(); ++i) t = expand_dims(t, -1);
    return t;
  };
  if (weights.is_set()) rows = multiply_no_nan(rows, beside_rows(weights));
  const Tensor sum = unsorted_segment_sum(rows, segment_ids, num_segments);
  if (o.combiner == Combiner::sum) return sum;
  if (!weights.is_set()) weights = ones_like(cast(ids, table.dtype()));
  const bool mean = o.combiner == Combiner::mean;
  const Tensor total = unsorted_segment_sum(mean ? weights : square(weights), segment_ids, num_segments);
  // An example without ids has no weights either: 0 / 0 is 0, and sqrt(0) must not give an infinite gradient.
  const Tensor safe = where(equal(total, Scalar(0)), Scalar(1), total);
  return div_no_nan(sum, beside_rows(mean ? safe : sqrt(safe)));
}

}  // namespace TANDEM_NS
