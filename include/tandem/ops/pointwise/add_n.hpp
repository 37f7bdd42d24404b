// Sums of lists of tensors: add_n, accumulate_n. Not here: the sum of two tensors, which broadcasts (arith.hpp).
#pragma once
#include <concepts>
#include <vector>

#include "tandem/core/apply.hpp"
#include "tandem/core/indexed_slices.hpp"
#include "tandem/ops/tensor_list.hpp"

namespace TANDEM_NS {

/// Adds a list of tensors element by element, in one pass.
///   list      at least one tensor; numbers of one dtype and one shape, which are not broadcast
///   returns   same shape and dtype
///   throws    errors::InvalidArgumentError for an empty list, or if shapes or dtypes differ
///   gradient  g to each
TANDEM_API Tensor add_n(const TensorList& list, OpOptions = {});
/// Alias of add_n.
inline Tensor accumulate_n(const TensorList& list, OpOptions o = {}) { return add_n(list, o); }

namespace detail {
TANDEM_API Tensor add_gradients(const std::vector<Gradient>& list, const OpOptions& o);
}
/// As above for gradients or IndexedSlices; row-sparse ones are converted to dense form.
template <class G>
  requires(std::same_as<G, Gradient> || std::same_as<G, IndexedSlices>)
Tensor add_n(const std::vector<G>& list, OpOptions o = {}) {
  return detail::add_gradients({list.begin(), list.end()}, o);
}

TANDEM_OPS(add_n_ops, add_n)

}  // namespace TANDEM_NS
