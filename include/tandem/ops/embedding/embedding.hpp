// nn::embedding_lookup_sparse. A composite. Not here: nn::embedding_lookup (index/gather.hpp).
#pragma once
#include <optional>

#include "tandem/core/apply.hpp"
#include "tandem/ops/dims.hpp"

namespace TANDEM_NS::nn {

/// How the rows of one example are combined: their sum, divided by the sum of the weights, or by the root of the sum of
/// their squares.
enum class Combiner : std::uint8_t { sum, mean, sqrtn };
struct EmbeddingLookupSparseOptions {
  TANDEM_OP_OPTIONS;
  Tensor weights = {};  ///< [n], of the table's dtype; default: 1 each
  Combiner combiner = Combiner::mean;
  std::optional<double> max_norm = {};  ///< rows of a larger Euclidean norm are scaled down to it
};
/// Looks up any number of rows for each example and combines them. A list of (id, example) pairs takes the place of
/// TensorFlow's SparseTensor.
///   table         floating [rows, ...]
///   ids           int32 or int64 [n]
///   segment_ids   int32 or int64 [n]: the example of each id, in any order; negative ones are dropped
///   num_segments  the number of examples
///   returns       [num_segments, ...]; 0 for examples without ids
///   throws        errors::InvalidArgumentError for an id or an example out of range, or lists of other lengths
///   gradient      row-sparse to the table; to the weights
TANDEM_API Tensor embedding_lookup_sparse(const Tensor& table, const Tensor& ids, const Tensor& segment_ids,
                                          const Dim& num_segments, EmbeddingLookupSparseOptions = {});

}  // namespace TANDEM_NS::nn
