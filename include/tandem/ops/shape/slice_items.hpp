// Parts of slicing by items, x(Slice(0, 2), ...), shared by constant and computed bounds.
#pragma once

#include "tandem/base/span.hpp"
#include "tandem/ops/shape/slice.hpp"

namespace TANDEM_NS::detail {

/// Returns the number of axes that the items consume. Raises if x has fewer.
int axes_taken(const Tensor& x, Span<const SliceItem> items);
/// x(items...) for items with constant bounds.
Tensor select_items(const Tensor& x, Span<const SliceItem> items, OpOptions o);
/// slice() with constant bounds.
Tensor slice_by_numbers(const Tensor& x, const Shape& begin, const Shape& size, const OpOptions& o);

}  // namespace TANDEM_NS::detail
