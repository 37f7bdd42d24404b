// Parts shared by the shape rules of indexing ops. Used by their definitions.
#pragma once
#include "tandem/core/op.hpp"

namespace TANDEM_NS::detail {

inline void check_index_dtype(const InferCall& c, std::size_t i) {
  if (!dtypes::index.has(c.spec(i).dtype)) [[unlikely]]
    raise_specs(c, "indices must be int32 or int64");
}

// Merges the axes that x and the ids, which number x's leading axes, share into one.
struct LeadingRows {
  Tensor x, ids;
  LeadingRows(const char* op, const Tensor& data, const Tensor& numbers);
};
// A vector as the leading axis of a tensor of this rank.
Tensor as_rows(const Tensor& v, int rank);

}  // namespace TANDEM_NS::detail
