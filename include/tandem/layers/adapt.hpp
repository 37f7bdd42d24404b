// What adapt() of layers takes beside one tensor: elements one after another, such as those of a data set. The layers
// do not know the component tandem::data.
#pragma once
#include <concepts>
#include <string>
#include <type_traits>

#include "tandem/core/tensor.hpp"

namespace TANDEM_NS::layers::detail {

inline const Tensor& element_tensor(const Tensor& x) { return x; }
inline Tensor element_tensor(const std::string& x) {
  const Tensor r = Tensor::allocate({Shape(), DType::string, {}});
  *static_cast<Bytes*>(r.raw()) = Bytes(x);
  return r;
}
template <class N>
  requires(std::is_arithmetic_v<N>)
Tensor element_tensor(N x) {
  const Tensor r = Tensor::allocate({Shape(), dtype_of<N>(), {}});
  *static_cast<N*>(r.raw()) = x;
  return r;
}

/// A range to go through once: a data::Dataset, one epoch of it, a vector.
template <class R>
concept Batches = !std::convertible_to<const R&, Tensor> && requires(const R& range) {
  *range.begin();
  range.end();
};

/// Calls add(tensor) with each element; numbers and texts become scalars.
template <Batches R, class F>
void each_batch(const R& range, const F& add) {
  static_assert(
      requires { element_tensor(*range.begin()); },
      "adapt: elements must be tensors, numbers or texts; map() a data set of pairs, tuples or structs to what "
      "the layer gets");
  for (auto&& element : range) add(element_tensor(element));
}

}  // namespace TANDEM_NS::layers::detail
