// custom_gradient: any C++ callable as an op with its own backward function. Forward and backward live in one object;
// there is no registry of names.
#pragma once
#include <span>
#include <utility>
#include <vector>

#include "tandem/core/apply.hpp"
#include "tandem/core/scope.hpp"

namespace TANDEM_NS {

namespace detail {

/// The backward half of a custom op: from the output's gradient to the inputs'.
class TANDEM_API CustomBackward : public Opaque {
 public:
  const char* kind() const override { return "closure"; }
  virtual Grads call(const Tensor& g) const = 0;

  std::vector<Spec> inputs;  // of the forward call: what the gradients must have
};

template <class B>
class BackwardClosure final : public CustomBackward {
 public:
  explicit BackwardClosure(B b) : b_(std::move(b)) {}
  Grads call(const Tensor& g) const override {
    auto r = b_(g);
    Grads grads;
    if constexpr (std::is_convertible_v<decltype(r), Tensor>) {
      grads.push(Gradient(Tensor(std::move(r))));
    } else {
      for (auto& x : r) grads.push(Gradient(Tensor(std::move(x))));
    }
    return grads;
  }

 private:
  B b_;
};

struct CustomAttrs {
  Ref<CustomBackward> backward;
  static constexpr auto fields = field_list(field("backward", &CustomAttrs::backward));
};

TANDEM_API Tensor apply_custom(const Tensor& value, std::span<const Tensor* const> in, Ref<CustomBackward> backward);

}  // namespace detail

/// Runs f(x...), which returns {value, backward}; on a tape the call counts as one op whose gradient is backward(g):
/// one tensor for each x, in order, of its shape and dtype (a vector, or a Tensor for a single x; unset where nothing
/// flows). Taking the gradient raises errors::InvalidArgumentError for others.
///   f        its own ops are not recorded; it may compute on the host
///   backward written in public ops if higher derivatives are wanted
///
///   Tensor y = custom_gradient([](const Tensor& x) {
///     return std::pair(my_relu(x), [x](const Tensor& g) { return where(x > 0, g, zeros_like(g)); });
///   }, x);
template <class F, class... X>
Tensor custom_gradient(F&& f, const X&... x) {
  const Tensor inputs[] = {Tensor(x)...};  // a Variable is read here, where the tapes see it
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

extern TANDEM_API const OpDef custom_gradient_op;
inline constexpr const OpDef* custom_gradient_ops[] = {&custom_gradient_op};

}  // namespace TANDEM_NS

#ifdef TANDEM_IMPLEMENT_AUTODIFF
namespace TANDEM_NS {
namespace detail {

// Input 0 is the value already computed, of which the output is a view; the others are what it was computed from.
TANDEM_INLINE Specs infer_custom(const InferCall& c) { return Specs(c.spec(0)); }
TANDEM_INLINE void check_custom_gradient(std::size_t i, const Spec& got, const Spec& want) {
  if (!is_floating(want.dtype) && !is_complex(want.dtype)) return;  // nobody asks for it
  if (got.dtype != want.dtype || !got.shape.is_compatible_with(want.shape))
    errors::raise<errors::InvalidArgumentError>(
        "custom_gradient", "the backward function gave " + to_string(got) + " as the gradient of input " +
                               std::to_string(i) + ", which is " + to_string(want) +
                               "; a gradient has its input's shape and dtype (see reduce_sum, broadcast_to, cast)");
}
TANDEM_INLINE Grads custom_gradient_rule(const GradCall& c) {
  const CustomBackward& backward = *c.get<CustomAttrs>().backward;
  Grads from = backward.call(c.g[0]);
  if (from.size() + 1 != c.in.size())
    errors::raise<errors::InvalidArgumentError>("custom_gradient", "the backward function gave " +
                                                                       std::to_string(from.size()) + " gradients for " +
                                                                       std::to_string(c.in.size() - 1) + " inputs");
  Grads r;
  r.push(Gradient());
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (from[i].is_set()) check_custom_gradient(i, from[i].dense().spec(), backward.inputs[i]);
    r.push(std::move(from[i]));
  }
  return r;
}
TANDEM_INLINE Tensor apply_custom(const Tensor& value, std::span<const Tensor* const> in,
                                  Ref<CustomBackward> backward) {
  Small<const Tensor*, 4> all(&value);
  for (const Tensor* t : in) all.push(t), backward->inputs.push_back(t->spec());
  return std::move(apply(custom_gradient_op, {all.begin(), all.size()}, CustomAttrs{std::move(backward)})[0]);
}

}  // namespace detail

TANDEM_INLINE constexpr OpDef custom_gradient_op{.name = "custom_gradient",
                                                 .infer = &detail::infer_custom,
                                                 .gradient = &detail::custom_gradient_rule,
                                                 .typed = -1,
                                                 .inputs = at_least(1),
                                                 .saves = Saves::nothing,
                                                 .flags = {.alias = true},
                                                 .attrs = &detail::attr_type<detail::CustomAttrs>};

}  // namespace TANDEM_NS
#endif
