// Definitions of ops/pointwise/quantize.hpp.
#pragma once
#include "tandem/core/scope.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/create/constant.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/pointwise/define.hpp"
#include "tandem/ops/pointwise/quantize.hpp"
#include "tandem/ops/pointwise/special.hpp"
#include "tandem/ops/pointwise/trig.hpp"
#include "tandem/ops/reduce/reduce.hpp"
#ifndef __CUDACC__
#include "tandem/cpu/pointwise/quantize.hpp"
#include "tandem/util/format.hpp"
#endif

namespace TANDEM_NS::rules {

/// The interval [low, high] of codes p.low ... p.high, shifted such that 0 is the value of a code. The gradient rule
/// computes the same ends by tensors.
template <class V>
struct CodeInterval {
  V step, low, high;
};
template <class V>
TANDEM_HD CodeInterval<V> code_interval(const FakeQuantAttrs& p, V low, V high) {
  using T = lane_t<V>;
  const V first(static_cast<T>(p.low)), last(static_cast<T>(p.high)), step = (high - low) / (last - first);
  const V zero = floor(min(max(first - low / step, first), last) + V(T(0.5)));
  return {step, (first - zero) * step, (last - zero) * step};
}
/// The check of the ranges of both ops.
struct OrderedRange {
  static constexpr const char* rejection = "has a min above max";
  template <class V>
  static TANDEM_HD bool rejects(V, V low, V high) {
    return low > high;
  }
  static void check(const KernelCall& c) {
    if (c.out[0].size() > 0 && tandem::detail::bounds_cross_any(c))
      errors::raise<errors::InvalidArgumentError>(
          c.op, "min is above max, in the ranges " + to_string(*c.in[1].spec) + " and " + to_string(*c.in[2].spec));
  }
};
struct fake_quant_rule : Rule<3, dtypes::floating, Saves::inputs>, OrderedRange {
  static constexpr const char* input_names = "x, min, max";
  using Params = FakeQuantAttrs;
  static constexpr const char* in_errors = "quantization::fake_quant_with_min_max_vars";
  template <class V>
  static TANDEM_HD V forward(const Params& p, V x, V low, V high) {
    const CodeInterval<V> c = code_interval(p, low, high);
    const V inside = min(max(x, c.low), c.high) - c.low;
    const V y = floor(inside / c.step + V(lane_t<V>(0.5))) * c.step + c.low;
    return select(c.step == V(0), V(0), y);
  }
  static Grads gradient(const GradCall& c) {
    const FakeQuantAttrs& p = c.get<FakeQuantAttrs>();
    const Tensor &g = c.g[0], &x = c.in[0];
    const Tensor step = (c.in[2] - c.in[1]) / (p.high - p.low);
    const Tensor zero = floor(minimum(maximum(p.low - c.in[1] / step, p.low), p.high) + 0.5);
    const Tensor low = (p.low - zero) * step, high = (p.high - zero) * step;
    Grads r{Gradient(), Gradient(), Gradient()};
    // An empty interval is not trained yet: everything goes to x.
    if (c.needs(0)) r[0] = where(logical_or(step == 0, logical_and(x >= low, x <= high)), g, 0);
    if (c.needs(1)) r[1] = where(x < low, g, 0);
    if (c.needs(2)) r[2] = where(x > high, g, 0);
    return r;
  }
};
struct quantize_and_dequantize_rule : Rule<3, dtypes::floating, Saves::nothing>, OrderedRange {
  static constexpr const char* input_names = "x, input_min, input_max";
  using Params = QuantizeGridAttrs;
  static constexpr const char* in_errors = "quantization::quantize_and_dequantize";
  template <class V>
  static TANDEM_HD V forward(const Params& p, V x, V low, V high) {
    using T = lane_t<V>;
    const V first(static_cast<T>(p.low)), last(static_cast<T>(p.high)), half(T(0.5));
    // Values per code at which low (if its sign is the lowest code's) and high become the outermost codes.
    const V by_low = select(first * low > V(0), low / first, V(0)), by_high = select(high > V(0), high / last, V(0));
    const V step = max(by_low, by_high), code = min(max(x / step, first), last);
    const V rounded = p.to_even ? round(code) : copysign(floor(abs(code) + half), code);
    return select(step == V(0), select(x == x, V(0), x), rounded * step);
  }
  static Grads gradient(const GradCall& c) { return {c.g[0], Gradient(), Gradient()}; }
};

}  // namespace TANDEM_NS::rules

namespace TANDEM_NS {

TANDEM_DEFINE_OPS(TANDEM_QUANTIZE_OPS)

#if TANDEM_DEFINES
namespace detail {

TANDEM_INLINE bool is_quantized(DType d) { return dtypes::quantized.has(d); }
struct Codes {
  i64 low, high;
};
inline Codes codes_of(DType d, bool narrow) {
  if (d == DType::quint8) return {0, 255};
  if (d == DType::qint8) return {-128 + i64(narrow), 127};
  return {INT32_MIN + i64(narrow), INT32_MAX};
}
TANDEM_INLINE void check_code_range(const InferCall& c, DType codes, DType numbers) {
  if (!is_quantized(codes) || !dtypes::floating.has(numbers))
    raise_specs(c, std::string("cannot convert between ") + name(numbers) + " and " + name(codes));
  for (const std::size_t i : {1u, 2u})
    if (c.spec(i).dtype != numbers || c.spec(i).shape.rank() != 0)
      raise_specs(c, std::string("min_range and max_range must be ") + name(numbers) + " scalars");
  if (c.get<rules::QuantizeAttrs>().low >= c.get<rules::QuantizeAttrs>().high) raise_specs(c, "there are no codes");
}
TANDEM_INLINE Specs infer_quantize(const InferCall& c) {
  Specs out(c.spec(0));
  out[0].dtype = c.get<rules::QuantizeAttrs>().dtype;
  check_code_range(c, out[0].dtype, c.spec(0).dtype);
  const auto& a = c.get<rules::QuantizeAttrs>();
  if (const Codes all = codes_of(a.dtype, false); a.low < all.low || a.high > all.high)
    raise_specs(
        c, "the codes " + std::to_string(a.low) + " to " + std::to_string(a.high) + " are not of " + name(a.dtype));
  return out;
}
TANDEM_INLINE Specs infer_dequantize(const InferCall& c) {
  Specs out(c.spec(0));
  out[0].dtype = c.get<rules::QuantizeAttrs>().dtype;
  check_code_range(c, c.spec(0).dtype, out[0].dtype);
  return out;
}
constexpr OpDef quantize_row(const char* name, const char* input_names, const char* in_errors,
                             Specs (*infer)(const InferCall&), KernelFn cpu, KernelFn cuda, DTypes of) {
  return {.name = name,
          .input_names = input_names,
          .infer = infer,
          .cpu = cpu,
          .cuda = cuda,
          .dtypes = of,
          .inputs = 3,
          .saves = Saves::nothing,
          .host_inputs = 6,
          .flags = {.non_differentiable = true},
          .attrs = &attr_type<rules::QuantizeAttrs>,
          .rare = {.in_errors = in_errors}};
}
}  // namespace detail

TANDEM_INLINE constexpr OpDef quantize_op =
    detail::quantize_row("quantize", "x, min_range, max_range", "quantization::quantize", &detail::infer_quantize,
                         &cpu::quantize, TANDEM_CUDA(&cuda::quantize), dtypes::floating);
TANDEM_INLINE constexpr OpDef dequantize_op =
    detail::quantize_row("dequantize", "q, min_range, max_range", "quantization::dequantize", &detail::infer_dequantize,
                         &cpu::dequantize, TANDEM_CUDA(&cuda::dequantize), dtypes::quantized);

namespace quantization {
namespace impl {

inline Tensor fake_quant(const char* op, const Tensor& x, const Tensor& min, const Tensor& max, i64 bits, bool narrow,
                         const OpOptions& o) {
  if (bits < 2 || bits > 16)
    errors::raise<errors::InvalidArgumentError>(op, "num_bits is " + std::to_string(bits) + ", not in [2, 16]");
  const rules::FakeQuantAttrs attrs{narrow ? 1. : 0., static_cast<double>((i64{1} << bits) - 1)};
  return apply1(fake_quant_op, attrs, o, x, min, max);
}

}  // namespace impl

TANDEM_INLINE Quantized quantize(const Tensor& x, const Tensor& min_range, const Tensor& max_range, QuantizeOptions o) {
  const tandem::detail::CallSite call(o);
  const bool scaled = o.mode == Mode::scaled, to_even = o.round_mode == RoundMode::half_to_even;
  if (!tandem::detail::is_quantized(o.T))
    errors::raise<errors::InvalidArgumentError>("quantization::quantize",
                                                std::string(name(o.T)) + " is not qint8, quint8 or qint32");
  if (!scaled && (to_even || o.narrow_range))
    errors::raise<errors::InvalidArgumentError>("quantization::quantize",
                                                "half_to_even and narrow_range need Mode::scaled");
  const Tensor low = minimum(min_range, 0), ends = maximum(maximum(abs(min_range), abs(max_range)), 1);
  Tensor first = low, last = maximum(maximum(max_range, low + ends * o.ensure_minimum_range), 0);
  const tandem::detail::Codes codes = tandem::detail::codes_of(o.T, o.narrow_range);
  const rules::QuantizeAttrs attrs{o.T, codes.low, codes.high, scaled, to_even};
  Quantized r;
  // A range in the wrong order must not become one by widening: the kernel refuses it.
  const Tensor ordered = min_range <= max_range;
  r.output = apply1(quantize_op, attrs, {o.name, o.where}, x, where(ordered, first, min_range),
                    where(ordered, last, max_range));
  if (scaled) {
    const auto lowest = static_cast<double>(codes.low), highest = static_cast<double>(codes.high);
    const Tensor step = lowest < 0 ? maximum(first / lowest, last / highest) : last / highest;
    first = step * lowest, last = step * highest;
  }
  r.output_min = first, r.output_max = last;
  return r;
}
TANDEM_INLINE Tensor dequantize(const Tensor& q, const Tensor& min_range, const Tensor& max_range,
                                DequantizeOptions o) {
  const tandem::detail::CallSite call(o);
  const tandem::detail::Codes codes = tandem::detail::codes_of(q.dtype(), o.narrow_range && o.mode == Mode::scaled);
  const rules::QuantizeAttrs attrs{o.dtype, codes.low, codes.high, o.mode == Mode::scaled, false};
  return apply1(dequantize_op, attrs, {o.name, o.where}, q, cast(min_range, o.dtype), cast(max_range, o.dtype));
}
TANDEM_INLINE Tensor dequantize(const Tensor& q, Scalar min_range, Scalar max_range, DequantizeOptions o) {
  return dequantize(q, constant(min_range.real(), {.dtype = o.dtype}), constant(max_range.real(), {.dtype = o.dtype}),
                    o);
}
TANDEM_INLINE Tensor quantize_and_dequantize(const Tensor& x, const Tensor& input_min, const Tensor& input_max,
                                             QuantizeAndDequantizeOptions o) {
  const tandem::detail::CallSite call(o);
  if (o.num_bits < 2 || o.num_bits > 63)
    errors::raise<errors::InvalidArgumentError>("quantization::quantize_and_dequantize",
                                                "num_bits is " + std::to_string(o.num_bits) + ", not in [2, 63]");
  if (o.range_given && (input_min.rank() != 0 || input_max.rank() != 0))
    errors::raise<errors::InvalidArgumentError>("quantization::quantize_and_dequantize",
                                                "input_min and input_max must be scalars, not " +
                                                    to_string(input_min.spec()) + " and " +
                                                    to_string(input_max.spec()));
  const double codes = static_cast<double>(u64{1} << (o.signed_input ? o.num_bits - 1 : o.num_bits));
  const rules::QuantizeGridAttrs attrs{o.signed_input ? (o.narrow_range ? 1 - codes : -codes) : 0, codes - 1,
                                       o.round_mode == RoundMode::half_to_even};
  const Tensor low = o.range_given ? input_min : reduce_min(x), high = o.range_given ? input_max : reduce_max(x);
  return apply1(quantize_and_dequantize_op, attrs, {o.name, o.where}, x, low, high);
}
TANDEM_INLINE Tensor fake_quant_with_min_max_args(const Tensor& x, FakeQuantArgsOptions o) {
  const tandem::detail::CallSite call(o);
  const char* const op = "quantization::fake_quant_with_min_max_args";
  if (!(o.min < o.max))
    errors::raise<errors::InvalidArgumentError>(op, "min " + tandem::detail::shortest_text(o.min) +
                                                        " is not below max " + tandem::detail::shortest_text(o.max));
  return impl::fake_quant(op, x, tandem::detail::scalar_like(o.min, x), tandem::detail::scalar_like(o.max, x),
                          o.num_bits, o.narrow_range, {o.name, o.where});
}
TANDEM_INLINE Tensor fake_quant_with_min_max_vars(const Tensor& x, const Tensor& min, const Tensor& max,
                                                  FakeQuantOptions o) {
  const tandem::detail::CallSite call(o);
  const char* const op = "quantization::fake_quant_with_min_max_vars";
  if (min.rank() != 0 || max.rank() != 0)
    errors::raise<errors::InvalidArgumentError>(
        op, "min and max must be scalars, not " + to_string(min.spec()) + " and " + to_string(max.spec()));
  return impl::fake_quant(op, x, min, max, o.num_bits, o.narrow_range, {o.name, o.where});
}
TANDEM_INLINE Tensor fake_quant_with_min_max_vars_per_channel(const Tensor& x, const Tensor& min, const Tensor& max,
                                                              FakeQuantOptions o) {
  const tandem::detail::CallSite call(o);
  const char* const op = "quantization::fake_quant_with_min_max_vars_per_channel";
  if (x.rank() == 0 || min.rank() != 1 || max.rank() != 1)
    errors::raise<errors::InvalidArgumentError>(op, "x must be [..., d], min and max [d], not " + to_string(x.spec()) +
                                                        ", " + to_string(min.spec()) + " and " + to_string(max.spec()));
  return impl::fake_quant(op, x, min, max, o.num_bits, o.narrow_range, {o.name, o.where});
}

}  // namespace quantization
#endif

}  // namespace TANDEM_NS
