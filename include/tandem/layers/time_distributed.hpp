// TimeDistributed: a layer applied to each step of a sequence.
#pragma once
#include <type_traits>
#include <utility>
#include <vector>

#include "tandem/layers/layer.hpp"
#include "tandem/layers/sequence_mask.hpp"
#include "tandem/util/lean_vector.hpp"

namespace TANDEM_NS::layers {

namespace detail {
/// [batch, time, ...] as [batch * time, ...], and the first axis of y as x's first two.
TANDEM_API Tensor merge_steps(const Tensor& x);
TANDEM_API Tensor split_steps(const Tensor& y, const Tensor& x);

/// Says, for a scope, of which input the merged steps are. The outermost one counts.
class ExamplesOfSteps {
 public:
  explicit ExamplesOfSteps(const Tensor& x) : outer_(tandem::detail::examples_of_steps) {
    if (!outer_) tandem::detail::examples_of_steps = &x;
  }
  ExamplesOfSteps(const ExamplesOfSteps&) = delete;
  ExamplesOfSteps& operator=(const ExamplesOfSteps&) = delete;
  ~ExamplesOfSteps() { tandem::detail::examples_of_steps = outer_; }

 private:
  const Tensor* const outer_;
};
}  // namespace detail

/// Applies a layer, or a function of one Tensor, to each step of a sequence, with the same weights. A penalty of the
/// layer's output (.activity_regularizer) is divided by the batch, as that of the layer applied to x itself; Keras 3
/// drops it.
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
  Tensor operator()(const Tensor& x) const {
    const InCall here(*this);
    const detail::ExamplesOfSteps batch(x);
    return detail::split_steps(layer_[0](detail::merge_steps(x)), x);
  }
  /// For Sequential. NaN and infinities of steps that do not count become 0. The layer gets the mask of axes inside of
  /// its steps, if there is one: [batch, time, n, ...] as [batch * time, n, ...]. If its result has none, a step counts
  /// if any of it does.
  Tensor call_with_mask(const Tensor& x, SequenceMask& mask) const {
    const InCall here(*this);
    const detail::ExamplesOfSteps batch(x);
    const bool has_inner = mask.is_set() && mask.tensor().rank() > 2;
    SequenceMask inner = has_inner ? mask.with(detail::merge_steps(mask.tensor())) : SequenceMask();
    const Tensor y = layers::call_with_mask(layer_[0], detail::merge_steps(mask.finite("TimeDistributed", x)), inner);
    if (inner.is_set()) mask = inner.with(detail::split_steps(inner.tensor(), x));
    else if (has_inner) mask = mask.with(mask.code()->any_inner(mask.tensor()));
    return detail::split_steps(y, x);
  }
  const L& layer() const { return layer_[0]; }

 private:
  LeanVector<L> layer_;  // one. Not a member: a Model would take it for one of its own
};

}  // namespace TANDEM_NS::layers
