// The parts of slicing by items, x(Slice(0, 2), ...), that constant and computed bounds share.
#pragma once
#include <span>

#include "tandem/ops/shape/slice.hpp"

namespace TANDEM_NS::detail {

/// How many axes the items select from; raises where there are more than x has.
int axes_taken(const Tensor& x, std::span<const SliceItem> items);
/// x(items...) for items whose bounds are numbers.
Tensor select_items(const Tensor& x, std::span<const SliceItem> items, OpOptions o);
/// slice() for bounds that are numbers.
Tensor slice_by_numbers(const Tensor& x, const Shape& begin, const Shape& size, const OpOptions& o);

}  // namespace TANDEM_NS::detail
