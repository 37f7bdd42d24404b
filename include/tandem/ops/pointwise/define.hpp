// Makes OpDefs and public functions from rules, for the lists of pointwise ops. Used by the definitions of pointwise
// ops.
//
// A group's header has a list, TANDEM_<GROUP>_OPS(unary, binary, other), which passes each op to the macro for the
// form of its public function: unary, binary, or hand-written. The definition of the op `sin` is `struct sin_rule`.
#pragma once
#include "tandem/core/cuda_kernels.hpp"
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
template <class R>
constexpr auto gradient_of() -> Grads (*)(const GradCall&) {
  if constexpr (requires { &R::gradient; }) return &gradient_rule<R>;
  else return nullptr;
}
template <class R>
constexpr auto attrs_of() -> const AttrType* {
  if constexpr (requires { typename R::Params; }) return &attr_type<typename R::Params>;
  else return nullptr;
}

// Returns no loop for dtypes that are computed in tiles of a wider dtype: half precision in float32 (header-only,
// narrow integers in int64). A rule with a check has no loop either, because it reads its data first.
template <class R>
DenseLoop loop_rule(DType dtype, const Attrs& attrs) {
  return cpu::detail::is_widened<R>(dtype) ? DenseLoop{} : cpu::dense_loop<R>(dtype, attrs);
}
template <class R>
constexpr auto loop_of() -> DenseLoop (*)(DType, const Attrs&) {
  if constexpr (requires(const KernelCall& c) { R::check(c); }) return nullptr;
  else if constexpr (requires { &R::loop; }) return &R::loop;
  else return &loop_rule<R>;
}
template <class R>
constexpr auto infer_of() -> Specs (*)(const InferCall&) {
  if constexpr (requires { &R::infer; }) return &R::infer;
  else return &infer_rule<R>;
}
template <class R>
constexpr KernelFn kernel_of() {
  if constexpr (requires { &R::kernel; }) return &R::kernel;
  else return &cpu::pointwise<R>;
}
template <class R>
constexpr DTypes dtypes_of_rule() {
  if constexpr (requires { R::dtypes; }) return R::dtypes;
  else return R::info.dtypes;
}
template <class R>
constexpr const char* input_names_of_rule() {
  if constexpr (requires { R::input_names; }) return R::input_names;
  else {
    static_assert(R::info.arity <= 2, "a rule of three inputs names them: input_names");
    return R::info.arity == 1 ? "x" : "a, b";
  }
}
template <class R>
constexpr const char* name_in_errors() {
  if constexpr (requires { R::in_errors; }) return R::in_errors;
  else return nullptr;
}

}  // namespace detail

template <class R>
constexpr OpDef pointwise_op(const char* name) {
  return {.name = name,
          .input_names = detail::input_names_of_rule<R>(),
          .infer = detail::infer_of<R>(),
          .cpu = detail::kernel_of<R>(),
          .cuda = TANDEM_CUDA(&cuda::pointwise<R>),
          .loop = detail::loop_of<R>(),
          .gradient = detail::gradient_of<R>(),
          .dtypes = detail::dtypes_of_rule<R>(),
          .dtype_input = R::info.first_is_mask ? 1 : 0,
          .inputs = R::info.arity,
          .saves = R::info.saves,
          .flags = {.pointwise = true,
                    .in_place = true,
                    .non_differentiable = R::info.non_differentiable,
                    .commutative = R::info.commutative,
                    .own_width = R::info.own_width},
          .attrs = detail::attrs_of<R>(),
          .rare = {.in_errors = detail::name_in_errors<R>()}};
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
