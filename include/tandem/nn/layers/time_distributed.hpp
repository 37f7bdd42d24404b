// TimeDistributed: a layer applied to each step of a sequence.
#pragma once
#include <type_traits>
#include <utility>
#include <vector>

#include "tandem/nn/layers/layer.hpp"

namespace TANDEM_NS::layers {

namespace detail {
/// [batch, time, ...] as [batch * time, ...], and the first axis of y as x's first two.
TANDEM_API Tensor merge_steps(const Tensor& x);
TANDEM_API Tensor split_steps(const Tensor& y, const Tensor& x);
}  // namespace detail

/// Applies a layer, or a function of one Tensor, to each step of a sequence, with the same weights.
///   x         [batch, time, ...]; all sizes but those that the layer needs may be unknown
///   returns   [batch, time, ...]: the layer's result for [batch * time, ...]
///   throws    errors::InvalidArgumentError if x is not of rank 2 or more; as the layer
template <class L>
class TimeDistributed : public Layer {
 public:
  explicit TimeDistributed(L layer) : Layer("time_distributed") {
    layer_.push_back(std::move(layer));
    if constexpr (std::is_base_of_v<Module, L>) add_module(layer_[0]);
  }
  Tensor operator()(const Tensor& x) const { return detail::split_steps(layer_[0](detail::merge_steps(x)), x); }
  const L& layer() const { return layer_[0]; }

 private:
  std::vector<L> layer_;  // one. Not a member: a Model would take it for one of its own
};

}  // namespace TANDEM_NS::layers
