// Definitions of ops/random/sample.hpp.
#pragma once
#include "tandem/core/scope.hpp"
#include "tandem/cpu/random/sample.hpp"
#include "tandem/ops/create/range.hpp"
#include "tandem/ops/cuda_kernels.hpp"
#include "tandem/ops/random/sample.hpp"
#include "tandem/util/format.hpp"

namespace TANDEM_NS {

namespace detail {
TANDEM_INLINE Specs infer_categorical(const InferCall& c) {
  const rules::CategoricalAttrs& a = c.get<rules::CategoricalAttrs>();
  check_key(c, 1);
  Specs out(c.spec(0));
  Shape& s = out[0].shape;
  out[0].dtype = a.dtype;
  if (a.squeeze ? s.rank() == 0 : s.rank() != 2)
    raise_specs(c, a.squeeze ? "log_p needs a last axis of classes" : "logits must be [b, n]");
  if (!dtypes::index.has(a.dtype) || a.num_samples < 0 || (a.squeeze && a.num_samples != 1))
    raise_specs(c, "cannot draw " + std::to_string(a.num_samples) + " " + name(a.dtype) + " from");
  if (s.dim(-1) == 0) raise_specs(c, "there are no classes to draw from");
  s.resize(s.rank() - 1);
  if (!a.squeeze) s.push_back(a.num_samples);
  return out;
}
TANDEM_INLINE std::size_t categorical_workspace(Span<const Spec> in, const Attrs&) {
  return cpu::categorical_slots * static_cast<std::size_t>(in[0].shape.dim(-1)) * sizeof(double);
}
TANDEM_INLINE Specs infer_shuffle(const InferCall& c) {
  check_key(c, 1);
  if (c.spec(0).shape.rank() == 0) raise_specs(c, "a scalar has no rows");
  return Specs(c.spec(0));
}
TANDEM_INLINE std::size_t shuffle_workspace(Span<const Spec> in, const Attrs&) {
  return static_cast<std::size_t>(in[0].shape.dim(0)) * sizeof(i64);
}
TANDEM_INLINE Grads shuffle_gradient(const GradCall& c) {
  const rules::ShuffleAttrs inverse{!c.get<rules::ShuffleAttrs>().inverse};
  return {c.needs(0) ? Gradient(apply1(shuffle_op, inverse, no_options, c.g[0], c.in[1])) : Gradient(), Gradient()};
}
}  // namespace detail

TANDEM_INLINE constexpr OpDef categorical_op{.name = "categorical",
                                             .input_names = "logits, key",
                                             .infer = &detail::infer_categorical,
                                             .cpu = &cpu::categorical,
                                             .cuda = TANDEM_CUDA(&cuda::categorical),
                                             .workspace = &detail::categorical_workspace,
                                             .dtypes = dtypes::floating,
                                             .inputs = 2,
                                             .saves = Saves::nothing,
                                             .host_inputs = 2,
                                             .flags = {.random = true, .non_differentiable = true},
                                             .attrs = &detail::attr_type<rules::CategoricalAttrs>};
TANDEM_INLINE constexpr OpDef shuffle_op{.name = "shuffle",
                                         .input_names = "x, key",
                                         .infer = &detail::infer_shuffle,
                                         .cpu = &cpu::shuffle,
                                         .cuda = TANDEM_CUDA(&cuda::shuffle),
                                         .gradient = &detail::shuffle_gradient,
                                         .workspace = &detail::shuffle_workspace,
                                         .inputs = 2,
                                         .saves = Saves::inputs,
                                         .host_inputs = 2,
                                         .flags = {.random = true},
                                         .attrs = &detail::attr_type<rules::ShuffleAttrs>};

namespace random {

namespace impl {
inline void check_classes(const char* op, const CategoricalOptions& o) {
  if (!dtypes::index.has(o.dtype))
    errors::raise<errors::InvalidArgumentError>(op,
                                                std::string("classes must be int64 or int32, not ") + name(o.dtype));
}
inline Tensor drawn_classes(const char* op, const Tensor& logits, i64 num_samples, const Tensor& key,
                            const CategoricalOptions& o) {
  check_classes(op, o);
  if (num_samples < 0)
    errors::raise<errors::InvalidArgumentError>(op, std::to_string(num_samples) + " samples requested");
  return apply1(categorical_op, rules::CategoricalAttrs{num_samples, 1, o.dtype, false}, {o.name, o.where}, logits,
                key);
}
}  // namespace impl

TANDEM_INLINE Tensor categorical(const Tensor& logits, i64 num_samples, CategoricalOptions o) {
  const tandem::detail::CallSite call(o);
  return impl::drawn_classes("random::categorical", logits, num_samples,
                             next_key("random::categorical", {o.seed, o.generator}), o);
}
TANDEM_INLINE Tensor stateless_categorical(const Tensor& logits, i64 num_samples, const Seed& seed,
                                           CategoricalOptions o) {
  const tandem::detail::CallSite call(o);
  const char* const op = "random::stateless_categorical";
  return impl::drawn_classes(op, logits, num_samples, impl::stateless_key(op, seed, o), o);
}
TANDEM_INLINE Tensor sample_with_temperature(const Tensor& log_p, double temperature, CategoricalOptions o) {
  const tandem::detail::CallSite call(o);
  impl::check_classes("random::sample_with_temperature", o);
  if (!(temperature >= 0))
    errors::raise<errors::InvalidArgumentError>(
        "random::sample_with_temperature",
        "temperature " + tandem::detail::shortest_text(temperature) + " is negative");
  return apply1(categorical_op, rules::CategoricalAttrs{1, temperature, o.dtype, true}, {o.name, o.where}, log_p,
                next_key("random::sample_with_temperature", {o.seed, o.generator}));
}
TANDEM_INLINE Tensor shuffle(const Tensor& x, ShuffleOptions o) {
  const tandem::detail::CallSite call(o);
  return apply1(shuffle_op, rules::ShuffleAttrs{false}, {o.name, o.where}, x,
                next_key("random::shuffle", {o.seed, o.generator}));
}
TANDEM_INLINE Tensor stateless_shuffle(const Tensor& x, const Seed& seed, ShuffleOptions o) {
  const tandem::detail::CallSite call(o);
  return apply1(shuffle_op, rules::ShuffleAttrs{false}, {o.name, o.where}, x,
                impl::stateless_key("random::stateless_shuffle", seed, o));
}
TANDEM_INLINE Tensor permutation(i64 n, ShuffleOptions o) {
  const tandem::detail::CallSite call(o);
  if (n < 0)
    errors::raise<errors::InvalidArgumentError>("random::permutation", std::to_string(n) + " integers requested");
  return apply1(shuffle_op, rules::ShuffleAttrs{false}, {o.name, o.where}, range(0, n, 1, {.dtype = DType::int64}),
                next_key("random::permutation", {o.seed, o.generator}));
}

}  // namespace random
}  // namespace TANDEM_NS
