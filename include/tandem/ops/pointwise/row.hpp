// From a rule to its OpDef, and the call of that op. For the definitions of pointwise ops: it names their kernels.
#pragma once
#include "tandem/core/cuda_kernels.hpp"
#include "tandem/cpu/pointwise/pointwise.hpp"
#include "tandem/ops/rule.hpp"

namespace TANDEM_NS {

namespace detail {

// A comparison's forward returns bool for one number.
template <class R>
constexpr bool to_bool() {
  using T = std::conditional_t<R::info.dtypes.has(DType::float32), float,
                               std::conditional_t<R::info.dtypes.has(DType::int32), std::int32_t, bool>>;
  if constexpr (requires { typename R::Params; }) return false;
  else if constexpr (R::info.first_is_mask) return false;
  else if constexpr (R::info.arity == 1) return std::is_same_v<decltype(R::forward(T())), bool>;
  else if constexpr (R::info.arity == 2) return std::is_same_v<decltype(R::forward(T(), T())), bool>;
  else return false;
}
template <class R>
Specs infer_rule(const InferCall& c) {
  return infer_pointwise(c, R::info, to_bool<R>());
}
// A unary rule may state its gradient as f(g, x, y); every other rule takes the call.
template <class R>
Grads gradient_rule(const GradCall& c) {
  if constexpr (requires { R::gradient(c); }) return R::gradient(c);
  else return Grads(Gradient(R::gradient(c.g[0], c.in[0], c.out[0])));
}
template <class R>
constexpr bool has_gradient = requires(const GradCall& c) {
  R::gradient(c);
}
|| requires(const Tensor& t) { R::gradient(t, t, t); };
template <class R>
constexpr auto gradient_of() -> Grads (*)(const GradCall&) {
  if constexpr (has_gradient<R>) return &gradient_rule<R>;
  else return nullptr;
}
template <class R>
constexpr auto attrs_of() -> const AttrType* {
  if constexpr (requires { typename R::Params; }) return &attr_type<typename R::Params>;
  else return nullptr;
}

// Half precision passes through float32 tiles (header-only, narrow integers through int64 ones), and a rule with a
// check looks at its data first: neither is a loop alone.
template <class R>
DenseLoop loop_rule(DType dtype, const Attrs& attrs) {
  return cpu::detail::is_widened<R>(dtype) ? DenseLoop{} : cpu::dense_loop<R>(dtype, attrs);
}
template <class R>
constexpr auto loop_of() -> DenseLoop (*)(DType, const Attrs&) {
  if constexpr (requires(const KernelCall& c) { R::check(c); }) return nullptr;
  else return &loop_rule<R>;
}

}  // namespace detail

template <class R>
constexpr OpDef pointwise_row() {
  return {.name = R::info.name,
          .infer = &detail::infer_rule<R>,
          .cpu = &cpu::pointwise<R>,
          .cuda = TANDEM_CUDA(&cuda::pointwise<R>),
          .loop = detail::loop_of<R>(),
          .gradient = detail::gradient_of<R>(),
          .dtypes = R::info.dtypes,
          .typed = R::info.first_is_mask ? 1 : 0,
          .inputs = R::info.arity,
          .saves = R::info.saves,
          .flags = {.pointwise = true, .in_place = true, .blocked = R::info.blocked, .own_width = R::info.own_width},
          .attrs = detail::attrs_of<R>()};
}

/// The public function's body.
template <class R, class List, class... T>
Tensor call(const OpOptions& options, const T&... x) {
  static_assert(List::template has<R>, "the rule is missing from its file's list");
  static_assert(R::info.arity == sizeof...(T));
  const Tensor* const in[] = {&x...};
  return apply_one(R::row, in, no_attrs, options);
}

}  // namespace TANDEM_NS
