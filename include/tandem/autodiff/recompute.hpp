// recompute_grad: a function whose intermediate values are not kept for the gradient but computed again.
#pragma once
#include <utility>
#include <vector>

#include "tandem/core/tensor.hpp"

namespace TANDEM_NS {

namespace detail {

/// A function of tensors, held by the backward function of its result.
class TANDEM_API Recomputed : public Opaque {
 public:
  const char* kind() const override { return "closure"; }
  virtual Tensor call(const std::vector<Tensor>& x) const = 0;
};
template <class F>
class RecomputedClosure final : public Recomputed {
 public:
  explicit RecomputedClosure(F f) : f_(std::move(f)) {}
  Tensor call(const std::vector<Tensor>& x) const override {
    if constexpr (std::is_invocable_v<const F&, const std::vector<Tensor>&>) return f_(x);
    else if constexpr (std::is_invocable_v<const F&, const Tensor&>) return f_(x[0]);
    else if constexpr (std::is_invocable_v<const F&, const Tensor&, const Tensor&>) return f_(x[0], x[1]);
    else return f_(x[0], x[1], x[2]);
  }

 private:
  F f_;
};
TANDEM_API Tensor call_recomputed(const Ref<Recomputed>& f, std::vector<Tensor> x);

}  // namespace detail

/// Wraps f so that a tape keeps the arguments of each call alone: the gradient calls f again for its intermediate
/// values. That costs a second forward pass and saves their memory. `auto block = recompute_grad([&](const Tensor& x) {
/// return layers(x); }); y = block(x);`. In a traced function equal ops are computed once, so that it saves nothing
/// there.
///
///   f         takes one to three tensors, or a std::vector<Tensor>, and returns one tensor; it must be a pure function
///             of them and of Variables, which the second call must find as the first did
///   gradient  that of f, of any order; also to the trainable Variables that f reads
///   source    Chen, Xu, Zhang, Guestrin, "Training Deep Nets with Sublinear Memory Cost", 2016
template <class F>
auto recompute_grad(F f) {
  return [code = Ref<detail::Recomputed>(new detail::RecomputedClosure<F>(std::move(f)))](const auto&... x) {
    if constexpr (sizeof...(x) == 1 && (std::is_same_v<std::decay_t<decltype(x)>, std::vector<Tensor>> && ...))
      return detail::call_recomputed(code, x...);
    else return detail::call_recomputed(code, {Tensor(x)...});
  };
}

}  // namespace TANDEM_NS
