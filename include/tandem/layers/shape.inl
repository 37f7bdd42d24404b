// Definitions of layers/shape.hpp.
#pragma once
#include "tandem/layers/shape.hpp"
#include "tandem/ops/shape/reshape.hpp"
#include "tandem/ops/shape/shape_of.hpp"
#include "tandem/ops/shape/tile.hpp"
#include "tandem/ops/shape/transpose.hpp"

namespace TANDEM_NS::layers {

namespace detail {
TANDEM_INLINE void check_batched(const char* layer, const Tensor& x) {
  if (x.rank() < 1) errors::raise<errors::InvalidArgumentError>(layer, "needs a batch, not " + to_string(x.spec()));
}
}  // namespace detail

TANDEM_INLINE Tensor Flatten::operator()(const Tensor& x) const {
  const InCall here(*this);
  detail::check_batched("Flatten", x);
  return x.rank() == 1 ? expand_dims(x, 1) : nn::flatten(x);
}

TANDEM_INLINE Tensor Reshape::operator()(const Tensor& x) const {
  const InCall here(*this);
  detail::check_batched("Reshape", x);
  Dims dims{get_shape(x)[0]};
  for (const i64 n : target_) dims.push_back(n);
  return reshape(x, dims);
}

TANDEM_INLINE Permute::Permute(std::vector<int> dims) : Layer("permute"), perm_{0} {
  std::vector<bool> seen(dims.size());
  for (const int d : dims) {
    const bool ok = d >= 1 && static_cast<std::size_t>(d) <= dims.size() && !seen[static_cast<std::size_t>(d) - 1];
    if (!ok)
      errors::raise<errors::InvalidArgumentError>(
          "Permute", "dims must be a permutation of 1 to " + std::to_string(dims.size()) + "; got " +
                         std::to_string(d) + " (axis 0 is the batch, which stays)");
    seen[static_cast<std::size_t>(d) - 1] = true;
    perm_.push_back(d);
  }
}
TANDEM_INLINE Tensor Permute::operator()(const Tensor& x) const {
  const InCall here(*this);
  return transpose(x, {.perm = perm_});
}

TANDEM_INLINE Tensor RepeatVector::operator()(const Tensor& x) const {
  const InCall here(*this);
  if (x.rank() != 2)
    errors::raise<errors::InvalidArgumentError>("RepeatVector", "needs [batch, features], not " + to_string(x.spec()));
  return tile(expand_dims(x, 1), {1, n_, 1});
}

}  // namespace TANDEM_NS::layers
