// Parts shared by the shape rules of indexing ops. Used by their definitions.
#pragma once
#include "tandem/core/op.hpp"

namespace TANDEM_NS::detail {

inline void check_index_dtype(const InferCall& c, std::size_t i) {
  if (!dtypes::index.has(c.spec(i).dtype)) [[unlikely]]
    raise_specs(c, "indices must be int32 or int64");
}

}  // namespace TANDEM_NS::detail
