// custom_gradient: any C++ callable as an op with its own backward function. Forward and backward are defined in one
// object; there is no registry of names.
#pragma once
#include <utility>
#include <vector>

#include "tandem/base/span.hpp"
#include "tandem/core/apply.hpp"
#include "tandem/core/scope.hpp"

namespace TANDEM_NS {

namespace detail {

/// Backward function of a custom op: maps the output's gradient to the inputs' gradients.
class TANDEM_API CustomBackward : public Opaque {
 public:
  const char* kind() const override { return "closure"; }
  virtual Grads call(const Tensor& g) const = 0;

  std::vector<Spec> inputs;  // of the forward call; the gradients must match them
};

template <class B>
class BackwardClosure final : public CustomBackward {
 public:
  explicit BackwardClosure(B b) : b_(std::move(b)) {}
  Grads call(const Tensor& g) const override {
    auto r = b_(g);
    Grads grads;
    if constexpr (std::is_convertible_v<decltype(r), Tensor>) {
      grads.push_back(Gradient(Tensor(std::move(r))));
    } else {
      for (auto& x : r) grads.push_back(Gradient(Tensor(std::move(x))));
    }
    return grads;
  }

 private:
  B b_;
};

struct CustomAttrs {
  Ref<CustomBackward> backward;
  TANDEM_ATTRS(CustomAttrs, backward);
};

/// Calls the backward function and checks the number and the specs of the gradients.
TANDEM_API Grads call_backward(const CustomBackward& backward, const Tensor& g);
TANDEM_API Tensor apply_custom(const Tensor& value, Span<const Tensor* const> in, Ref<CustomBackward> backward);

}  // namespace detail

/// Runs f(x...), which returns {value, backward}. On a tape the call counts as one op whose gradient is backward(g):
/// one tensor for each x, in order, with its shape and dtype (a vector, or a Tensor for a single x; unset where
/// there is no gradient). Taking the gradient raises errors::InvalidArgumentError if they do not match.
///
///   Tensor y = custom_gradient([](const Tensor& x) {
///     return std::pair(my_relu(x), [x](const Tensor& g) { return where(x > 0, g, zeros_like(g)); });
///   }, x);
///
///   f         its own ops are not recorded; it may compute on the host
///   backward  must be written in public ops if higher derivatives are needed. In a traced function it is traced as
///             well, at once: the Variables that it reads are then read in the forward call, while eagerly they are
///             read when the gradient is taken. Capture a value that f has read where that matters
template <class F, class... X>
Tensor custom_gradient(F&& f, const X&... x) {
  const Tensor inputs[] = {Tensor(x)...};  // a Variable is read here, where the tapes record the read
  auto result = [&]<std::size_t... I>(std::index_sequence<I...>) {
    const detail::Unobserved quiet;
    return f(inputs[I]...);
  }
  (std::index_sequence_for<X...>());
  auto& [value, backward] = result;
  const Tensor* pointers[sizeof...(X)];
  for (std::size_t i = 0; i < sizeof...(X); ++i) pointers[i] = &inputs[i];
  using Closure = detail::BackwardClosure<std::remove_cvref_t<decltype(backward)>>;
  return detail::apply_custom(value, pointers, Ref<detail::CustomBackward>(new Closure(std::move(backward))));
}

TANDEM_OPS(custom_gradient_ops, custom_gradient)

}  // namespace TANDEM_NS
