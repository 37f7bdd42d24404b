// nn::dropout: one op whose gradient is itself with the same key, so that no mask is stored.
#pragma once
#include <optional>

#include "tandem/ops/random/attrs.hpp"
#include "tandem/ops/random/generator.hpp"
#include "tandem/ops/shape_arg.hpp"

namespace TANDEM_NS {
namespace nn {

struct DropoutOptions {
  TANDEM_OP_OPTIONS;
  std::optional<double> rate = {};  ///< the share that is dropped, in [0, 1); has to be given
  ShapeArg noise_shape = {};        ///< where it is 1, elements share their fate; `none`: as x
  std::optional<i64> seed = {};     ///< a sequence of its own (random/generator.hpp)
  bool training = true;
  const random::Generator* generator = nullptr;  ///< default: the global one
};

/// Sets elements to 0 with probability `.rate` and multiplies the others by 1 / (1 - rate): nn::dropout(x, {.rate =
/// 0.1}).
///   x         floating, any shape; open dims are fine
///   returns   x's shape, dtype and device; x itself for rate 0 or training = false
///   throws    errors::InvalidArgumentError without a rate or for one outside [0, 1), if x is not floating, or if
///             noise_shape does not broadcast to x's shape
///   gradient  g, dropped and scaled alike
TANDEM_API Tensor dropout(const Tensor& x, DropoutOptions options);

}  // namespace nn
extern TANDEM_API const OpDef dropout_op;
inline constexpr const OpDef* dropout_ops[] = {&dropout_op};
}  // namespace TANDEM_NS

#ifdef TANDEM_IMPLEMENT_RANDOM
#include "tandem/base/format.hpp"
#include "tandem/core/scope.hpp"
#include "tandem/cpu/random.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/create/fill.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/random/draw.hpp"
#if defined(TANDEM_WITH_CUDA) && TANDEM_WITH_CUDA
namespace TANDEM_NS::cuda {
void dropout(const KernelCall& c);
}
#endif

namespace TANDEM_NS {

namespace detail {
TANDEM_INLINE Specs infer_dropout(const InferCall& c) {
  check_key(c, 1);
  if (const double rate = c.get<DropoutAttrs>().rate; !(rate >= 0 && rate < 1))
    raise_specs(c, "the rate " + shortest_text(rate) + " lies outside [0, 1)");
  return Specs(c.spec(0));
}
TANDEM_INLINE Grads dropout_gradient(const GradCall& c) {
  return {c.needs(0) ? Gradient(apply1(dropout_op, c.attrs, no_options, c.g[0], c.in[1])) : Gradient(), Gradient()};
}
}  // namespace detail

// The key is an input that the rule reads; x it does not, but `saves` cannot tell inputs apart.
TANDEM_INLINE constexpr OpDef dropout_op{.name = "dropout",
                                         .infer = &detail::infer_dropout,
                                         .cpu = &cpu::dropout,
                                         .cuda = TANDEM_CUDA(&cuda::dropout),
                                         .gradient = &detail::dropout_gradient,
                                         .dtypes = dtypes::floating,
                                         .inputs = 2,
                                         .saves = Saves::inputs,
                                         .host_inputs = 2,
                                         .flags = {.random = true, .in_place = true},
                                         .attrs = &detail::attr_type<DropoutAttrs>};

namespace detail {
// noise_shape with x's sizes where it is open.
TANDEM_INLINE Shape noise_shape_for(const Tensor& x, const Shape& noise) {
  Shape r = noise;
  const int skip = x.rank() - noise.rank();
  bool fits = skip >= 0;
  for (int i = 0; fits && i < noise.rank(); ++i) {
    if (noise.dim(i) == none) r.set(i, x.shape().dim(i + skip));
    fits =
        r.dim(i) != none && (r.dim(i) == 1 || r.dim(i) == x.shape().dim(i + skip) || x.shape().dim(i + skip) == none);
  }
  if (!fits)
    errors::raise<errors::InvalidArgumentError>("nn::dropout", "noise_shape " + to_string(noise) +
                                                                   " does not broadcast to " + to_string(x.spec()) +
                                                                   " (or is open where x is)");
  return r;
}
}  // namespace detail

namespace nn {

TANDEM_INLINE Tensor dropout(const Tensor& x, DropoutOptions o) {
  const tandem::detail::CallSite call(o);
  if (!o.rate)
    errors::raise<errors::InvalidArgumentError>("nn::dropout", "no rate is given: dropout(x, {.rate = 0.1})");
  if (!(*o.rate >= 0 && *o.rate < 1))
    errors::raise<errors::InvalidArgumentError>(
        "nn::dropout",
        "rate " + tandem::detail::shortest_text(*o.rate) + " is not in [0, 1); it is the share that is dropped");
  if (!is_floating(x.dtype()))
    errors::raise<errors::InvalidArgumentError>("nn::dropout", "x must be floating, not " + to_string(x.spec()));
  if (*o.rate == 0 || !o.training) return x;
  const OpOptions named{o.name, o.where};
  const DropoutAttrs attrs{*o.rate};
  if (const Shape* noise = o.noise_shape.get()) {
    const Shape shape = tandem::detail::noise_shape_for(x, *noise);
    const DType dtype = x.dtype() == DType::float64 ? DType::float64 : DType::float32;
    const Tensor key = random::next_key("nn::dropout", {o.seed, o.generator});
    const Tensor mask = apply1(dropout_op, attrs, named, ones(shape, {.dtype = dtype}), key);
    return multiply(x, cast(mask, x.dtype()));
  }
  const Tensor key = random::next_key("nn::dropout", {o.seed, o.generator});
  if (!dtypes::half_floating.has(x.dtype())) return apply1(dropout_op, attrs, named, x, key);
  return cast(apply1(dropout_op, attrs, named, cast(x, DType::float32), key), x.dtype());
}

}  // namespace nn
}  // namespace TANDEM_NS
#endif
