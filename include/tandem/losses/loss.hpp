// losses::Loss: a loss per example with sample weights and a reduction, the base class of all losses. Not here: the
// losses (regression.hpp, crossentropy.hpp, hinge.hpp).
#pragma once
#include <string>
#include <type_traits>

#include "tandem/losses/pair.hpp"

namespace TANDEM_NS::losses {

/// How the losses of the examples become one number. With weights, the sum is that of loss * weight.
enum class Reduction : std::uint8_t {
  sum_over_batch_size,  ///< sum / number of losses (not of weights, as in Keras); 0 for an empty batch
  sum,
  none  ///< one loss per example
};

struct LossOptions {
  Reduction reduction = Reduction::sum_over_batch_size;
  Name name = {};  ///< default: the name of the class in snake case
};

/// A loss: loss(y_true, y_pred), the arguments in Keras' order. An object without state; copies of its subclasses to a
/// Loss keep what they compute.
///   y_true         numbers or bool_, converted to the dtype of y_pred; the shape of y_pred. Unlike Keras' losses, a
///                  loss never broadcasts y_true and y_pred or removes axes: [n] and [n, 1] raise
///   y_pred         floating, rank >= 1; half precision is computed in float32
///   sample_weight  unset, one number, [batch], or any leading part of the losses' shape. An example with weight 0 does
///                  not count: its labels and predictions may be NaN or infinite, which changes no bit of the result
///                  or of the other examples' gradients; its own are 0
///   returns        a scalar, or with Reduction::none the losses of the examples; dtype of y_pred
///   throws         errors::InvalidArgumentError, with the class's name, for shapes or dtypes that do not match
///   gradient       exact, to y_pred, y_true and sample_weight; to a weight of 0, that of some finite loss if the
///                  example's is not finite
class TANDEM_API Loss {
 public:
  /// A loss of one's own: `function(y_true, y_pred)`, a lambda for example, returns one loss per example. With weights,
  /// it gets 1 in place of a label, and 0.5 in place of a prediction, that is not finite and whose weight is 0.
  Loss(const std::string& name, tandem::detail::PairFunction function, LossOptions options = {},
       tandem::detail::Ignored ignored = {});
  /// The same by the function alone, which is called "loss": {.loss = [](const Tensor& y, const Tensor& p) { ... }}.
  template <class F>
    requires(std::is_class_v<F> && !std::is_base_of_v<Loss, F> && !requires(const F& f) { f.variables(); } &&
             std::is_invocable_r_v<Tensor, const F&, const Tensor&, const Tensor&>)  // no metric or layer
  Loss(const F& function) : Loss("loss", function) {}

  Tensor operator()(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight = {}, OpOptions = {}) const;
  const std::string& name() const { return name_; }
  Reduction reduction() const { return reduction_; }

 private:
  Tensor reduced(Tensor losses, const Tensor& sample_weight, const Tensor& valid) const;

  std::string class_name_, name_;
  Reduction reduction_;
  tandem::detail::PairFunction function_;
  tandem::detail::Ignored ignored_;
};

}  // namespace TANDEM_NS::losses
