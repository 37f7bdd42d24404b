// Definitions of ops/random/dropout.hpp.
#pragma once
#include "tandem/core/scope.hpp"
#include "tandem/cpu/random/random.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/create/fill.hpp"
#include "tandem/ops/cuda_kernels.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/random/draw.hpp"
#include "tandem/ops/random/dropout.hpp"
#include "tandem/ops/shape/shape_of.hpp"
#include "tandem/util/format.hpp"

namespace TANDEM_NS {

namespace detail {
TANDEM_INLINE Specs infer_dropout(const InferCall& c) {
  check_key(c, 1);
  if (const double rate = c.get<rules::DropoutAttrs>().rate; !(rate >= 0 && rate < 1))
    raise_specs(c, "the rate " + shortest_text(rate) + " is outside [0, 1)");
  return Specs(c.spec(0));
}
TANDEM_INLINE Grads dropout_gradient(const GradCall& c) {
  return {c.needs(0) ? Gradient(apply1(dropout_op, c.attrs, no_options, c.g[0], c.in[1])) : Gradient(), Gradient()};
}
}  // namespace detail

// The gradient needs only the key, not x, but `saves` does not distinguish between inputs.
TANDEM_INLINE constexpr OpDef dropout_op{.name = "dropout",
                                         .input_names = "x, key",
                                         .infer = &detail::infer_dropout,
                                         .cpu = &cpu::dropout,
                                         .cuda = TANDEM_CUDA(&cuda::dropout),
                                         .gradient = &detail::dropout_gradient,
                                         .dtypes = dtypes::floating,
                                         .inputs = 2,
                                         .saves = Saves::inputs,
                                         .host_inputs = 2,
                                         .flags = {.random = true, .in_place = true},
                                         .attrs = &detail::attr_type<rules::DropoutAttrs>};

namespace detail {
TANDEM_INLINE Dims noise_dims(const char* op, const Tensor& x, const Shape& noise) {
  const std::vector<DimValue> sizes = get_shape(x);
  const int skip = x.rank() - noise.rank();
  bool fits = skip >= 0;
  Dims r;
  for (int i = 0; fits && i < noise.rank(); ++i) {
    const DimValue& size = sizes[static_cast<std::size_t>(i + skip)];
    const i64 n = noise.dim(i);
    fits = n == none || n == 1 || !size.is_known() || size.is(n);
    r.push_back(n == none ? Dim(size) : Dim(n));
  }
  if (!fits)
    errors::raise<errors::InvalidArgumentError>(
        op, "noise_shape " + to_string(noise) + " does not broadcast to " + to_string(x.spec()));
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
        "rate " + tandem::detail::shortest_text(*o.rate) + " is not in [0, 1); it is the fraction that is dropped");
  if (!is_floating(x.dtype()))
    errors::raise<errors::InvalidArgumentError>("nn::dropout", "x must be floating, not " + to_string(x.spec()));
  if (*o.rate == 0 || !o.training) return x;
  const OpOptions named{o.name, o.where};
  const rules::DropoutAttrs attrs{*o.rate};
  if (const Shape* noise = o.noise_shape.get()) {
    const Dims shape = tandem::detail::noise_dims("nn::dropout", x, *noise);
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
