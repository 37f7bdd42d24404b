// Definitions of ops/random/distributions.hpp.
#pragma once
#include "tandem/core/scope.hpp"
#include "tandem/cpu/random/distributions.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/create/constant.hpp"
#include "tandem/ops/cuda_kernels.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/pointwise/exp.hpp"
#include "tandem/ops/pointwise/incomplete.hpp"
#include "tandem/ops/random/distributions.hpp"
#include "tandem/ops/reduce/reduce.hpp"
#include "tandem/ops/shape/shape_of.hpp"
#include "tandem/ops/shape/tile.hpp"
#include "tandem/util/format.hpp"

namespace TANDEM_NS {
namespace detail {

// The result has the parameters' shape, or that of the attributes if they are scalars.
inline Specs infer_drawn(const InferCall& c) {
  Specs out(c.spec(0));
  if (out[0].shape.rank() > 0) return out;
  out[0].shape = c.get<rules::DistributionAttrs>().shape;
  for (const i64 d : out[0].shape)
    if (d < 0) raise_specs(c, "cannot draw numbers of shape " + to_string(out[0].shape));
  return out;
}
TANDEM_INLINE Specs infer_random_gamma(const InferCall& c) {
  check_key(c, 1);
  if (c.in.size() > 3 || (c.in.size() == 3 && c.spec(2).dtype != c.spec(0).dtype))
    raise_specs(c, "alpha and beta differ");
  return infer_drawn(c);
}
// The key is the last input.
TANDEM_INLINE Specs infer_counted(const InferCall& c) {
  check_key(c, c.in.size() - 1);
  Specs out = infer_drawn(c);
  out[0].dtype = c.get<rules::DistributionAttrs>().dtype;
  if (!(dtypes::floating | dtypes::index).has(out[0].dtype))
    raise_specs(c, std::string("cannot draw ") + name(out[0].dtype));
  if (c.in.size() == 3 && (c.spec(1).dtype != c.spec(0).dtype || !c.spec(1).shape.is_compatible_with(c.spec(0).shape)))
    raise_specs(c, "counts and probs differ");
  return out;
}
// Implicit reparameterization: y moves such that P(alpha, y) stays.
TANDEM_INLINE Grads random_gamma_gradient(const GradCall& c) {
  const Tensor& alpha = c.in[0];
  Grads r{Gradient(), Gradient()};
  while (r.size() < c.in.size()) r.push_back(Gradient());
  if (!c.needs(0)) return r;
  const rules::GammaSampleAttrs attrs{c.get<rules::DistributionAttrs>().log};
  const Tensor g = c.g[0] * apply1(gamma_sample_grad_op, attrs, no_options, alpha, c.out[0]);
  r[0] = alpha.rank() == 0 ? reduce_sum(g) : g;
  return r;
}
constexpr OpDef counted_row(const char* name, const char* input_names, const char* in_errors, KernelFn cpu,
                            KernelFn cuda, DTypes of, std::int8_t parameters) {
  return {.name = name,
          .input_names = input_names,
          .infer = &infer_counted,
          .cpu = cpu,
          .cuda = cuda,
          .dtypes = of,
          .inputs = static_cast<std::int8_t>(parameters + 1),
          .saves = Saves::nothing,
          .host_inputs = static_cast<std::uint16_t>(1 << parameters),
          .flags = {.random = true, .non_differentiable = true},
          .attrs = &attr_type<rules::DistributionAttrs>,
          .rare = {.in_errors = in_errors}};
}

}  // namespace detail

TANDEM_INLINE constexpr OpDef random_gamma_op{.name = "random_gamma",
                                              .input_names = "alpha, key, rates",
                                              .infer = &detail::infer_random_gamma,
                                              .cpu = &cpu::random_gamma,
                                              .cuda = TANDEM_CUDA(&cuda::random_gamma),
                                              .gradient = &detail::random_gamma_gradient,
                                              .dtypes = dtypes::floating,
                                              .inputs = at_least(2),
                                              .host_inputs = 2,
                                              .flags = {.random = true},
                                              .attrs = &detail::attr_type<rules::DistributionAttrs>,
                                              .rare = {.in_errors = "random::gamma"}};
TANDEM_INLINE constexpr OpDef random_poisson_op =
    detail::counted_row("random_poisson", "lam, key", "random::poisson", &cpu::random_poisson,
                        TANDEM_CUDA(&cuda::random_poisson), dtypes::floating, 1);
TANDEM_INLINE constexpr OpDef random_binomial_op =
    detail::counted_row("random_binomial", "counts, probs, key", "random::binomial", &cpu::random_binomial,
                        TANDEM_CUDA(&cuda::random_binomial), dtypes_of(DType::float64), 2);

namespace random::impl {

// Who draws: the name in error texts, the options' name and line, the key, and how parameters meet the shape.
struct Draw {
  const char* op;
  OpOptions options;
  Tensor key;
  const Dims& shape;
  bool is_whole;  // `shape` is the result's; otherwise the parameters' follows

  // The parameter for each number drawn; a scalar stays one, if the shape is known.
  Tensor spread(const Tensor& parameter) const {
    if (parameter.rank() == 0 && shape.is_known()) return parameter;
    if (is_whole) return broadcast_to(parameter, shape);
    Dims dims;
    for (const DimValue& d : shape.values(op)) dims.push_back(d);
    for (const DimValue& d : get_shape(parameter)) dims.push_back(d);
    return broadcast_to(parameter, dims);
  }
  rules::DistributionAttrs attrs(DType dtype, const char* parameter, bool log = false) const {
    return {dtype, shape.is_known() ? shape.numbers(op) : Shape{}, op, parameter, log};
  }
};
inline DType dtype_of_parameters(const char* op, const std::optional<DType>& asked, const Parameter& a,
                                 const Parameter& b) {
  const DType own = a.is_tensor() ? a.tensor().dtype() : b.is_tensor() ? b.tensor().dtype() : DType::float32;
  const DType dtype = asked.value_or(own);
  if (!is_floating(dtype))
    errors::raise<errors::InvalidArgumentError>(op, std::string(tandem::name(dtype)) + " is not floating");
  return dtype;
}
inline Tensor as_tensor(const char* op, const Parameter& p, DType dtype) {
  if (!p.is_tensor()) return constant(p.number(), {.dtype = dtype});
  if (p.tensor().dtype() != dtype)
    errors::raise<errors::InvalidArgumentError>(
        op, "a parameter is " + to_string(p.tensor().spec()) + ", not " + tandem::name(dtype) + " (cast it)");
  return p.tensor();
}
// a, broadcast with b.
inline Tensor with_shape_of(const Tensor& a, const Tensor& b) { return where(constant(true), a, b); }
inline DType computed_in(DType dtype) { return dtypes::half_floating.has(dtype) ? DType::float32 : dtype; }
// `rates`: null, or only to be checked.
inline Tensor gamma_numbers(const Draw& d, const Tensor& alpha, const Tensor* rates) {
  const DType dtype = alpha.dtype(), wide = computed_in(dtype);
  const Tensor a = d.spread(cast(alpha, wide)), b = rates ? cast(*rates, wide) : Tensor();
  const Tensor* const in[] = {&a, &d.key, &b};
  const Tensor y = apply_one(random_gamma_op, {in, rates ? 3u : 2u}, d.attrs(wide, "alpha"), d.options);
  // float16's smallest normal number: y has only float32's, which is also that of bfloat16.
  return cast(dtype == DType::float16 ? maximum(y, 0x1p-14) : y, dtype);
}
inline Tensor gamma_of(const Draw& d, const Parameter& alpha, const GammaOptions& o) {
  const DType dtype = dtype_of_parameters(d.op, o.dtype, alpha, o.beta);
  if (!o.beta.is_tensor() && !(o.beta.number() > 0))
    errors::raise<errors::InvalidArgumentError>(
        d.op, "beta " + tandem::detail::shortest_text(o.beta.number()) + " is not positive");
  const Tensor shapes = as_tensor(d.op, alpha, dtype), rates = as_tensor(d.op, o.beta, dtype);
  if (!o.beta.is_tensor()) {
    const Tensor y = gamma_numbers(d, shapes, nullptr);
    return o.beta.number() == 1 ? y : y / rates;
  }
  return gamma_numbers(d, with_shape_of(shapes, rates), &rates) / rates;
}
inline Tensor log_gamma_numbers(const Draw& d, const Tensor& alpha, const char* name) {
  return apply1(random_gamma_op, d.attrs(alpha.dtype(), name, true), d.options, d.spread(alpha), d.key);
}
inline Tensor counted(const OpDef& op, const Draw& d, DType dtype, const char* name, const Tensor* parameters,
                      std::size_t count) {
  Tensor wide[2];
  const Tensor* in[3];
  for (std::size_t i = 0; i < count; ++i) wide[i] = d.spread(parameters[i]), in[i] = &wide[i];
  in[count] = &d.key;
  return cast(apply_one(op, {in, count + 1}, d.attrs(computed_in(dtype), name), d.options), dtype);
}
inline Tensor poisson_of(const Draw& d, const Parameter& lam, DType dtype) {
  const DType own = dtype_of_parameters(d.op, {}, lam, lam);
  const Tensor mean = cast(as_tensor(d.op, lam, own), computed_in(own));
  return counted(random_poisson_op, d, dtype, "lam", &mean, 1);
}
inline Tensor binomial_of(const Draw& d, const Parameter& counts, const Parameter& probs, DType dtype) {
  const auto wide = [](const Parameter& p) {
    return p.is_tensor() ? cast(p.tensor(), DType::float64) : constant(p.number(), {.dtype = DType::float64});
  };
  const Tensor n = wide(counts), p = wide(probs), parameters[] = {with_shape_of(n, p), with_shape_of(p, n)};
  return counted(random_binomial_op, d, dtype, "counts", parameters, 2);
}

}  // namespace random::impl

namespace random {

TANDEM_INLINE Tensor gamma(const Dims& shape, const Parameter& alpha, GammaOptions o) {
  const tandem::detail::CallSite call(o);
  const char* const op = "random::gamma";
  return impl::gamma_of({op, {o.name, o.where}, next_key(op, {o.seed, o.generator}), shape, false}, alpha, o);
}
TANDEM_INLINE Tensor stateless_gamma(const Dims& shape, const Seed& seed, const Parameter& alpha, GammaOptions o) {
  const tandem::detail::CallSite call(o);
  const char* const op = "random::stateless_gamma";
  return impl::gamma_of({op, {o.name, o.where}, impl::stateless_key(op, seed, o), shape, true}, alpha, o);
}
TANDEM_INLINE Tensor beta(const Dims& shape, const Parameter& a, const Parameter& b, BetaOptions o) {
  const tandem::detail::CallSite call(o);
  const char* const op = "random::beta";
  const DType dtype = impl::dtype_of_parameters(op, o.dtype, a, b);
  // x / (x + y) from logarithms: for small parameters both numbers are tiny. In float64: below 1e-38 the logarithms
  // are beyond float32's range. Those of the smallest float64 are beyond float64's, but numbers of two tiny parameters
  // are 0 or 1 with odds of b to a, which a common factor does not change.
  const auto wide = [&](const Parameter& x) {
    return cast(impl::as_tensor(op, x, x.is_tensor() ? dtype : DType::float64), DType::float64);
  };
  const Tensor c = wide(a), d = wide(b);
  const Tensor factor = where(maximum(c, d) < 1e-290, constant(0x1p60, DType::float64), constant(1, DType::float64));
  const Tensor p = c * factor, q = d * factor;
  const KeySource source{o.seed, o.generator};
  const Tensor x = impl::log_gamma_numbers({op, {o.name, o.where}, next_key(op, source), shape, false},
                                           impl::with_shape_of(p, q), "a");
  const Tensor y = impl::log_gamma_numbers({op, {o.name, o.where}, next_key(op, source), shape, false},
                                           impl::with_shape_of(q, p), "b");
  return cast(cast(sigmoid(x - y), impl::computed_in(dtype)), dtype);
}
TANDEM_INLINE Tensor poisson(const Dims& shape, const Parameter& lam, PoissonOptions o) {
  const tandem::detail::CallSite call(o);
  const char* const op = "random::poisson";
  return impl::poisson_of({op, {o.name, o.where}, next_key(op, {o.seed, o.generator}), shape, false}, lam, o.dtype);
}
TANDEM_INLINE Tensor stateless_poisson(const Dims& shape, const Seed& seed, const Parameter& lam, PoissonOptions o) {
  const tandem::detail::CallSite call(o);
  const char* const op = "random::stateless_poisson";
  return impl::poisson_of({op, {o.name, o.where}, impl::stateless_key(op, seed, o), shape, true}, lam, o.dtype);
}
TANDEM_INLINE Tensor binomial(const Dims& shape, const Parameter& counts, const Parameter& probs, BinomialOptions o) {
  const tandem::detail::CallSite call(o);
  const char* const op = "random::binomial";
  return impl::binomial_of({op, {o.name, o.where}, next_key(op, {o.seed, o.generator}), shape, false}, counts, probs,
                           o.dtype);
}
TANDEM_INLINE Tensor stateless_binomial(const Dims& shape, const Seed& seed, const Parameter& counts,
                                        const Parameter& probs, BinomialOptions o) {
  const tandem::detail::CallSite call(o);
  const char* const op = "random::stateless_binomial";
  return impl::binomial_of({op, {o.name, o.where}, impl::stateless_key(op, seed, o), shape, true}, counts, probs,
                           o.dtype);
}

}  // namespace random
}  // namespace TANDEM_NS
