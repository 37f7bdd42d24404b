// What losses and metrics share: the checks of labels, predictions and sample weights, and PairFunction, which holds
// a function of labels and predictions. Not here: the functions themselves.
#pragma once
#include <concepts>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

#include "tandem/core/apply.hpp"
#include "tandem/util/ref.hpp"

namespace TANDEM_NS::detail {

/// A function of (y_true, y_pred): a plain one with OpOptions, or a closure.
class TANDEM_API PairFunction {
 public:
  using Plain = Tensor (*)(const Tensor& y_true, const Tensor& y_pred, OpOptions);

  PairFunction(Plain f) : plain_(f) {}
  template <class F>
    requires(!std::convertible_to<F, Plain> && !std::same_as<F, PairFunction> &&
             std::is_invocable_r_v<Tensor, const F&, const Tensor&, const Tensor&>)
  PairFunction(F f) : closure_(new ClosureOf<F>(std::move(f))) {}

  Tensor operator()(const Tensor& y_true, const Tensor& y_pred) const {
    return plain_ ? plain_(y_true, y_pred, no_options) : TANDEM_VIRTUAL(*closure_, Closure::call)(y_true, y_pred);
  }

 private:
  struct Closure : Opaque {
    virtual Tensor call(const Tensor& y_true, const Tensor& y_pred) const = 0;
    const char* kind() const override { return "loss"; }
  };
  template <class F>
  struct ClosureOf final : Closure {
    explicit ClosureOf(F f) : function(std::move(f)) {}
    Tensor call(const Tensor& y_true, const Tensor& y_pred) const override { return function(y_true, y_pred); }
    const F function;
  };
  Plain plain_ = nullptr;
  Ref<Closure> closure_;
};

/// Labels and predictions of one shape and dtype, float32 or float64, and the dtype of the result.
struct Pair {
  Tensor y_true, y_pred;
  DType dtype;

  TANDEM_API Tensor result(const Tensor& x) const;
  /// The mean over an axis.
  TANDEM_API Tensor mean(const Tensor& x, int axis = -1) const;
};
/// Checks labels and predictions, and converts the labels to the dtype of the predictions.
///   throws  errors::InvalidArgumentError, in the function's name, if the shapes differ, if there is no axis, for
///           predictions that are not floating, and for labels that are not numbers or bool_
TANDEM_API Pair checked_pair(const char* function, const Tensor& y_true, const Tensor& y_pred);
/// Raises errors::InvalidArgumentError unless the shapes are equal, as far as they are known.
TANDEM_API void check_same_shape(const char* function, const Tensor& y_true, const Tensor& y_pred);
/// Checks integer labels with the shape of y_pred without the axis of the classes, or with size 1 there, and returns
/// them without that axis, as int32 or int64.
TANDEM_API Tensor checked_labels(const char* function, const Tensor& y_true, const Tensor& y_pred, int axis = -1);

/// What does not count in a mean: examples with this label, or whose loss is 0.
struct Ignored {
  std::optional<std::int64_t> label = {};
  int axis = -1;  ///< of the classes in y_pred
  bool zero_losses = false;

  /// Whether each label counts, in the shape of the losses; unset if all do.
  TANDEM_API Tensor valid(const char* function, const Tensor& y_true, const Tensor& y_pred) const;
};
/// Sample weights in the dtype and shape of the values: one weight, one for each leading axis, or [..., 1].
///   throws  errors::InvalidArgumentError, in the function's name, for another shape or weights that are not numbers
TANDEM_API Tensor weights_like(const char* function, const Tensor& weights, const Tensor& values);
/// Replaces the elements of labels or predictions that are not finite and belong to an example of weight 0 by a number
/// that losses take, so that neither values nor gradients depend on them: 0 times a NaN, or times its gradient, is NaN.
///   x        returned as it is unless it is floating and the weights fit its shape
///   weights  as for weights_like
///   axis     the axis of x that the losses do not have
TANDEM_API Tensor without_uncounted(const Tensor& x, const Tensor& weights, int axis, double instead);
/// Labels and predictions without what does not count; unchanged if the weights are unset.
struct CountedPair {
  Tensor y_true, y_pred;
  TANDEM_API CountedPair(const Tensor& labels, const Tensor& predictions, const Tensor& weights, int axis = -1);
};
/// The sum of all elements, a scalar.
TANDEM_API Tensor sum_of_all(const Tensor& x);

/// Keras' lower bound of probabilities.
inline constexpr double probability_epsilon = 1e-7;

}  // namespace TANDEM_NS::detail
