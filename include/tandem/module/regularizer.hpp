// Regularizer: a penalty on a weight or on a layer's output. Not here: L1, L2 (layers/regularizers.hpp).
#pragma once
#include <type_traits>

#include "tandem/core/tensor.hpp"

namespace TANDEM_NS {

class Regularizer;

namespace detail {
TANDEM_API Tensor penalty_per_example(const Regularizer&, const Tensor& y, bool widen);
}  // namespace detail

/// A function of one Tensor that returns a scalar to be added to the loss: one of regularizers::*, or a lambda without
/// captures. Without a function it penalizes nothing.
class Regularizer {
 public:
  using Function = Tensor (*)(const Tensor&);
  using Weighted = Tensor (*)(const Tensor&, double l1, double l2);
  using PerExample = Tensor (*)(const Regularizer&, const Tensor& y, bool widen);

  constexpr Regularizer() = default;
  constexpr Regularizer(Weighted f, double l1, double l2, PerExample per_example)
      : weighted_(f), l1_(l1), l2_(l2), per_example_(per_example) {}
  template <class F>
    requires std::is_convertible_v<F, Function>
  constexpr Regularizer(const F& f) : function_(f), per_example_(&detail::penalty_per_example) {}

  Tensor operator()(const Tensor& x) const { return weighted_ ? weighted_(x, l1_, l2_) : function_(x); }
  /// The penalty of a layer's output, divided by the number of examples (its first axis), as in Keras 3; of float16 and
  /// bfloat16 computed in float32 and rounded at the end; that of a lambda as the lambda returns it.
  Tensor of_output(const Tensor& y) const { return per_example_(*this, y, weighted_ != nullptr); }
  explicit constexpr operator bool() const { return weighted_ || function_; }

 private:
  Function function_ = nullptr;
  Weighted weighted_ = nullptr;
  double l1_ = 0, l2_ = 0;
  PerExample per_example_ = nullptr;  // a pointer, so that only programs with a regularizer need its definition
};

}  // namespace TANDEM_NS
