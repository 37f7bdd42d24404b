// Rows of named tensors. For the definitions of serving.
#pragma once
#include <string>

#include "tandem/ops/shape/slice.hpp"
#include "tandem/serving/request.hpp"

namespace TANDEM_NS::serving::impl {

/// The product of the other sizes of an input of which one is 0 is at most this: a request of few bytes must not have
/// a result, or rows to go through, of any size.
inline constexpr i64 most_of_empty = i64{1} << 24;

/// The rows [begin, end) of all tensors.
inline NamedTensors rows_of(const NamedTensors& all, i64 begin, i64 end) {
  NamedTensors r;
  for (const auto& [name, t] : all) r.emplace(name, t(Slice(begin, end)));
  return r;
}

}  // namespace TANDEM_NS::serving::impl
