// Makes OpDefs and public functions from rules, for the lists of pointwise ops. Used by the definitions of pointwise
// ops.
//
// A group's header has a list, TANDEM_<GROUP>_OPS(unary, binary, other), which passes each op to the macro for the
// form of its public function: unary, binary, or hand-written. The definition of the op `sin` is `struct sin_rule`.
#pragma once
#include "tandem/ops/cuda_kernels.hpp"
#include "tandem/ops/rule.hpp"
#ifndef __CUDACC__
#include "tandem/cpu/pointwise/pointwise.hpp"

namespace TANDEM_NS {

namespace detail {

// A comparison's forward function returns bool for a single number.
template <class R>
constexpr bool to_bool() {
  using T = std::conditional_t<
      R::info.dtypes.has(DType::float32), float,
      std::conditional_t<R::info.dtypes.has(DType::int32), std::int32_t,
                         std::conditional_t<R::info.dtypes.has(DType::complex64), std::complex<float>, bool>>>;
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

// A unary rule may define its gradient as f(g); as f(g, x) or f(g, y), depending on what it saves; or as f(g, x, y).
template <class R>
Grads gradient_rule(const GradCall& c) {
  const Tensor &g = c.g[0], &x = c.in[0], &y = c.out[0];
  if constexpr (requires { R::gradient(c); }) return R::gradient(c);
  else if constexpr (requires { R::gradient(g); }) return Grads(Gradient(R::gradient(g)));
  else if constexpr (requires { R::gradient(g, x); })
    return Grads(Gradient(R::gradient(g, R::info.saves == Saves::outputs ? y : x)));
  else return Grads(Gradient(R::gradient(g, x, y)));
}
// Returns no loop for dtypes that are computed in tiles of a wider dtype: half precision in float32 (header-only,
// narrow integers in int64).
template <class R>
DenseLoop loop_rule(DType dtype, const Attrs& attrs) {
  return cpu::detail::is_widened<R>(dtype) ? DenseLoop{} : cpu::dense_loop<R>(dtype, attrs);
}
}  // namespace detail

/// The definition of the op of a rule. One function sets all columns: a header-only program evaluates it for each rule.
template <class R>
constexpr OpDef pointwise_op(const char* name) {
  constexpr const rules::Info& info = R::info;
  OpDef op{.name = name,
           .infer = &detail::infer_rule<R>,
           .cuda = TANDEM_CUDA(&cuda::pointwise<R>),
           .dtypes = info.dtypes,
           .dtype_input = info.first_is_mask ? 1 : 0,
           .inputs = info.arity,
           .saves = info.saves,
           .flags = {.pointwise = true,
                     .in_place = true,
                     .non_differentiable = info.non_differentiable,
                     .commutative = info.commutative,
                     .own_width = info.own_width}};
  if constexpr (requires { R::input_names; }) op.input_names = R::input_names;
  else if constexpr (info.arity == 2) op.input_names = "a, b";
  else static_assert(info.arity == 1, "a rule of three inputs names them: input_names");
  if constexpr (requires { &R::infer; }) op.infer = &R::infer;
  if constexpr (requires { &R::kernel; }) op.cpu = &R::kernel;
  else op.cpu = &cpu::pointwise<R>;
  // A rule with a check has no loop, because it reads its data first.
  if constexpr (requires { &R::loop; }) op.loop = &R::loop;
  else if constexpr (!requires(const KernelCall& c) { R::check(c); }) op.loop = &detail::loop_rule<R>;
  if constexpr (requires { &R::gradient; }) op.gradient = &detail::gradient_rule<R>;
  if constexpr (requires { R::dtypes; }) op.dtypes = R::dtypes;
  if constexpr (requires { typename R::Params; }) op.attrs = &detail::attr_type<typename R::Params>;
  if constexpr (requires { R::in_errors; }) op.rare.in_errors = R::in_errors;
  return op;
}

/// The body of a public function.
template <class... T>
Tensor call(const OpDef& op, const OpOptions& options, const T&... x) {
  const Tensor* const in[] = {&x...};
  return apply_one(op, in, no_attrs, options);
}

}  // namespace TANDEM_NS
#endif

#define TANDEM_NO_FUNCTION(op)
#define TANDEM_UNARY_FUNCTION(op)                                                          \
  static_assert(rules::op##_rule::info.arity == 1, "the list says that " #op " is unary"); \
  TANDEM_INLINE Tensor op(const Tensor& x, OpOptions o) { return call(op##_op, o, x); }
#define TANDEM_BINARY_FUNCTION(op)                                                          \
  static_assert(rules::op##_rule::info.arity == 2, "the list says that " #op " is binary"); \
  TANDEM_INLINE Tensor op(const Tensor& a, const Tensor& b, OpOptions o) { return call(op##_op, o, a, b); }
#define TANDEM_POINTWISE_OP(op) TANDEM_INLINE constexpr OpDef op##_op = pointwise_op<rules::op##_rule>(#op);

// Rules are definitions too. CUDA kernels and fused programs need them in their translation units without the rest:
// where TANDEM_DEFINES is 0 (config.hpp, ops/pointwise/rules.inl), the lists define nothing.
#define TANDEM_DEFINE_OPS_1(list) list(TANDEM_POINTWISE_OP, TANDEM_POINTWISE_OP, TANDEM_POINTWISE_OP)
#define TANDEM_DEFINE_OPS_0(list)
#define TANDEM_DEFINE_FUNCTIONS_1(list) list(TANDEM_UNARY_FUNCTION, TANDEM_BINARY_FUNCTION, TANDEM_NO_FUNCTION)
#define TANDEM_DEFINE_FUNCTIONS_0(list)

/// Defines the OpDefs of a list (in namespace tandem) or its public functions (in the namespace that declares them).
#define TANDEM_DEFINE_OPS(list) TANDEM_JOIN(TANDEM_DEFINE_OPS_, TANDEM_DEFINES)(list)
#define TANDEM_DEFINE_FUNCTIONS(list) TANDEM_JOIN(TANDEM_DEFINE_FUNCTIONS_, TANDEM_DEFINES)(list)
