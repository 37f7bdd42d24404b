// Activations for layers. Each one is a separate function, so a program links only those that it names.
#pragma once
#include <concepts>
#include <type_traits>
#include <utility>

#include "tandem/core/tensor.hpp"
#include "tandem/ops/linalg/dense.hpp"
#include "tandem/ops/softmax/softmax.hpp"

namespace TANDEM_NS {

/// The activation of a layer: one of the constants below, an op, or any function of one Tensor.
///     layers::Dense hidden{64, {.activation = Activation::relu}};
///     layers::Dense out{10, nn::softmax};
class TANDEM_API Activation {
 public:
  using Function = Tensor (*)(const Tensor&);
  static constexpr bool supports_masking = true;  // layers::call_with_mask
  static const Activation linear, relu, tanh, sigmoid, gelu, elu, selu, swish, softplus;
  static const Activation softmax;  // over the last axis

  /// `fused`: the epilogue that a matrix-product kernel applies instead of calling `f`; none if it has no such form.
  constexpr Activation(Function f, FusedActivation fused = FusedActivation::none) : f_(f), fused_(fused) {}
  /// A lambda without captures.
  template <class F>
    requires(std::is_class_v<F>&& std::is_convertible_v<F, Function>)
  constexpr Activation(const F& f) : f_(f) {}
  /// An op, called with its default options.
  template <class Options>
  Activation(Tensor (*op)(const Tensor&, Options)) : op_(reinterpret_cast<Op>(op)), call_(&call<Options>) {}
  // nn::softmax is overloaded, so the template above cannot be deduced from its name.
  Activation(Tensor (*op)(const Tensor&, nn::SoftmaxOptions))
      : op_(reinterpret_cast<Op>(op)), call_(&call<nn::SoftmaxOptions>) {}

  template <std::same_as<const char*> Text>
  Activation(Text) = delete;  // not a name, "relu": write nn::relu or Activation::relu

  Tensor operator()(const Tensor& x) const { return call_ ? call_(op_, x) : f_ ? f_(x) : x; }
  constexpr FusedActivation fused() const { return fused_; }
  constexpr bool operator==(const Activation&) const = default;

 private:
  using Op = void (*)();
  template <class Options>
  static Tensor call(Op op, const Tensor& x) {
    return reinterpret_cast<Tensor (*)(const Tensor&, Options)>(op)(x, Options{});
  }

  Function f_ = nullptr;  // null, without an op: linear
  FusedActivation fused_ = FusedActivation::none;
  Op op_ = nullptr;
  Tensor (*call_)(Op, const Tensor&) = nullptr;
};

namespace layers::detail {
/// The options of a constructor that takes the activation as an argument of its own.
template <class Options>
Options with_activation(Options options, const Activation& activation) {
  options.activation = activation;
  return options;
}
}  // namespace layers::detail

}  // namespace TANDEM_NS
