// Rows of named tensors. For the definitions of serving.
#pragma once
#include "tandem/ops/shape/slice.hpp"
#include "tandem/serving/request.hpp"

namespace TANDEM_NS::serving::impl {

/// The rows [begin, end) of all tensors.
inline NamedTensors rows_of(const NamedTensors& all, i64 begin, i64 end) {
  NamedTensors r;
  for (const auto& [name, t] : all) r.emplace(name, t(Slice(begin, end)));
  return r;
}

}  // namespace TANDEM_NS::serving::impl
