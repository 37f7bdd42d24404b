// Draws among given values: categorical, sample_with_temperature, shuffle. Not here: numbers of a distribution
// (draw.hpp).
#pragma once
#include "tandem/ops/random/attrs.hpp"
#include "tandem/ops/random/generator.hpp"

namespace TANDEM_NS::random {

struct CategoricalOptions {
  TANDEM_OP_OPTIONS;
  DType dtype = DType::int64;  ///< int64 or int32
  std::optional<i64> seed = {};
  const Generator* generator = nullptr;  ///< default: the global one
};
struct ShuffleOptions {
  TANDEM_OP_OPTIONS;
  std::optional<i64> seed = {};
  const Generator* generator = nullptr;
};

/// num_samples independent classes a row, with the probabilities softmax(logits).
///   logits    [b, n], float32 or float64: log-probabilities that need not be normalised; -inf is never drawn
///   returns   [b, num_samples] of `.dtype`, on logits' device
///   throws    errors::InvalidArgumentError for a row of only -inf or with a NaN, for n = 0, or another rank
///   gradient  none (blocked)
TANDEM_API Tensor categorical(const Tensor& logits, i64 num_samples, CategoricalOptions options = {});
/// One class from softmax(log_p / temperature): below 1 the likely ones gain. 0 takes the most likely, the first of
/// equals.
///   log_p     [..., n], float32 or float64; a probability of 0 (-inf) is never drawn
///   returns   log_p's shape without its last axis, int64
///   throws    errors::InvalidArgumentError for a negative temperature, and as categorical
///   gradient  none (blocked)
TANDEM_API Tensor sample_with_temperature(const Tensor& log_p, double temperature, CategoricalOptions options = {});
/// The rows of x (along axis 0) in random order, every order equally likely.
///   x         any dtype, rank >= 1
///   gradient  g in the inverse order
TANDEM_API Tensor shuffle(const Tensor& x, ShuffleOptions options = {});

}  // namespace TANDEM_NS::random
namespace TANDEM_NS {
extern TANDEM_API const OpDef categorical_op, shuffle_op;
inline constexpr const OpDef* sample_ops[] = {&categorical_op, &shuffle_op};
}  // namespace TANDEM_NS

#ifdef TANDEM_IMPLEMENT_RANDOM
#include "tandem/core/scope.hpp"
#include "tandem/cpu/random_sample.hpp"
#if defined(TANDEM_WITH_CUDA) && TANDEM_WITH_CUDA
namespace TANDEM_NS::cuda {
void categorical(const KernelCall& c);
}
#endif

namespace TANDEM_NS {

namespace detail {
TANDEM_INLINE Specs infer_categorical(const InferCall& c) {
  const CategoricalAttrs& a = c.get<CategoricalAttrs>();
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
  if (!a.squeeze) s.push(a.num_samples);
  return out;
}
TANDEM_INLINE std::size_t categorical_workspace(std::span<const Spec> in, const Attrs&) {
  return cpu::categorical_slots * static_cast<std::size_t>(in[0].shape.dim(-1)) * sizeof(double);
}
TANDEM_INLINE Specs infer_shuffle(const InferCall& c) {
  check_key(c, 1);
  if (c.spec(0).shape.rank() == 0) raise_specs(c, "a scalar has no rows");
  return Specs(c.spec(0));
}
TANDEM_INLINE std::size_t shuffle_workspace(std::span<const Spec> in, const Attrs&) {
  return static_cast<std::size_t>(in[0].shape.dim(0)) * sizeof(i64);
}
TANDEM_INLINE Grads shuffle_gradient(const GradCall& c) {
  const ShuffleAttrs inverse{!c.get<ShuffleAttrs>().inverse};
  return {c.needs(0) ? Gradient(apply1(shuffle_op, inverse, no_options, c.g[0], c.in[1])) : Gradient(), Gradient()};
}
}  // namespace detail

TANDEM_INLINE constexpr OpDef categorical_op{.name = "categorical",
                                             .infer = &detail::infer_categorical,
                                             .cpu = &cpu::categorical,
                                             .cuda = TANDEM_CUDA(&cuda::categorical),
                                             .workspace = &detail::categorical_workspace,
                                             .dtypes = dtypes::floating,
                                             .inputs = 2,
                                             .saves = Saves::nothing,
                                             .host_inputs = 2,
                                             .flags = {.random = true, .blocked = true},
                                             .attrs = &detail::attr_type<CategoricalAttrs>};
TANDEM_INLINE constexpr OpDef shuffle_op{.name = "shuffle",
                                         .infer = &detail::infer_shuffle,
                                         .cpu = &cpu::shuffle,
                                         .gradient = &detail::shuffle_gradient,
                                         .workspace = &detail::shuffle_workspace,
                                         .inputs = 2,
                                         .saves = Saves::inputs,
                                         .host_inputs = 2,
                                         .flags = {.random = true},
                                         .attrs = &detail::attr_type<ShuffleAttrs>};

namespace random {

namespace impl {
inline void check_classes(const char* op, const CategoricalOptions& o) {
  if (!dtypes::index.has(o.dtype))
    errors::raise<errors::InvalidArgumentError>(op, std::string("classes are int64 or int32, not ") + name(o.dtype));
}
}  // namespace impl

TANDEM_INLINE Tensor categorical(const Tensor& logits, i64 num_samples, CategoricalOptions o) {
  const tandem::detail::CallSite call(o);
  impl::check_classes("random::categorical", o);
  if (num_samples < 0)
    errors::raise<errors::InvalidArgumentError>("random::categorical", std::to_string(num_samples) + " samples");
  return apply1(categorical_op, CategoricalAttrs{num_samples, 1, o.dtype, false}, {o.name, o.where}, logits,
                next_key("random::categorical", {o.seed, o.generator}));
}
TANDEM_INLINE Tensor sample_with_temperature(const Tensor& log_p, double temperature, CategoricalOptions o) {
  const tandem::detail::CallSite call(o);
  impl::check_classes("random::sample_with_temperature", o);
  if (!(temperature >= 0))
    errors::raise<errors::InvalidArgumentError>("random::sample_with_temperature",
                                                "temperature " + std::to_string(temperature) + " is negative");
  return apply1(categorical_op, CategoricalAttrs{1, temperature, o.dtype, true}, {o.name, o.where}, log_p,
                next_key("random::sample_with_temperature", {o.seed, o.generator}));
}
TANDEM_INLINE Tensor shuffle(const Tensor& x, ShuffleOptions o) {
  const tandem::detail::CallSite call(o);
  return apply1(shuffle_op, ShuffleAttrs{false}, {o.name, o.where}, x,
                next_key("random::shuffle", {o.seed, o.generator}));
}

}  // namespace random
}  // namespace TANDEM_NS
#endif
