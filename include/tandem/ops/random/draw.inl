// The definitions of the drawing ops and the checks of their arguments.
#pragma once
#include <cmath>

#include "tandem/core/scope.hpp"
#include "tandem/cpu/random/random.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/create/constant.hpp"
#include "tandem/ops/create/fill.hpp"
#include "tandem/ops/cuda_kernels.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/random/draw.hpp"
#include "tandem/util/format.hpp"

namespace TANDEM_NS {

namespace detail {

inline bool is_interval(DType dtype, i64 low, i64 high) {
  return dtype == DType::uint64 ? static_cast<u64>(low) < static_cast<u64>(high) : low < high;
}
// Checks what the public functions have already checked, for ops read from a graph file.
TANDEM_INLINE void check_drawn(const InferCall& c, const rules::RandomAttrs& a) {
  const bool uniform = &c.op == &random_uniform_op;
  constexpr DTypes words = dtypes_of(DType::int32, DType::int64, DType::uint32, DType::uint64);
  const DTypes able = uniform ? dtypes::real : &c.op == &random_bits_op ? words : dtypes::floating;
  bool fits = able.has(a.dtype) && !(uniform && is_integer(a.dtype) && !is_interval(a.dtype, a.low, a.high));
  for (i64 d : a.shape) fits &= d >= 0;
  if (!fits) raise_specs(c, "cannot draw " + to_string(Spec{a.shape, a.dtype, {}}) + " in that interval with that key");
}
// Inputs: the key, and optionally a tensor whose shape the result has.
TANDEM_INLINE Specs infer_draw(const InferCall& c) {
  check_key(c, 0);
  const rules::RandomAttrs& a = c.get<rules::RandomAttrs>();
  check_drawn(c, a);
  if (c.in.size() > 1) return Specs(Spec{c.spec(1).shape, a.dtype, c.spec(1).device});
  return Specs(Spec{a.shape, a.dtype, a.device});
}
constexpr OpDef draw_row(const char* name, const char* in_errors, KernelFn cpu, KernelFn cuda) {
  return {.name = name,
          .input_names = "key, like",
          .infer = &infer_draw,
          .cpu = cpu,
          .cuda = cuda,
          .dtype_input = -1,
          .inputs = at_least(1),
          .saves = Saves::nothing,
          .host_inputs = 1,
          .shape_inputs = 2,
          .flags = {.random = true, .non_differentiable = true},
          .attrs = &attr_type<rules::RandomAttrs>,
          .rare = {.in_errors = in_errors}};
}

}  // namespace detail

TANDEM_INLINE constexpr OpDef random_uniform_op =
    detail::draw_row("random_uniform", "random::uniform", &cpu::random_uniform, TANDEM_CUDA(&cuda::random_uniform));
TANDEM_INLINE constexpr OpDef random_normal_op =
    detail::draw_row("random_normal", "random::normal", &cpu::random_normal, TANDEM_CUDA(&cuda::random_normal));
TANDEM_INLINE constexpr OpDef truncated_normal_op = detail::draw_row(
    "truncated_normal", "random::truncated_normal", &cpu::truncated_normal, TANDEM_CUDA(&cuda::truncated_normal));
TANDEM_INLINE constexpr OpDef random_bits_op =
    detail::draw_row("random_bits", "random::bits", &cpu::random_bits, TANDEM_CUDA(&cuda::random_bits));

namespace random {

namespace impl {

inline Tensor make(const OpDef& op, const Tensor& key, const Dims& dims, rules::RandomAttrs a, const OpOptions& o) {
  a.device = current_device();
  if (dims.is_known()) {
    a.shape = dims.numbers(op.name);
    return apply1(op, a, o, key);
  }
  return apply1(op, a, o, key, zeros(dims, DType::bool_));
}
inline bool is_half(DType d) { return dtypes::half_floating.has(d); }

inline Tensor normal_from(const char* name, const OpDef& op, const Dims& shape, const Tensor& key,
                          const NormalOptions& o) {
  if (!is_floating(o.dtype))
    errors::raise<errors::InvalidArgumentError>(name, std::string(tandem::name(o.dtype)) + " is not floating");
  if (!o.stddev.is_tensor() && !(o.stddev.number() >= 0))
    errors::raise<errors::InvalidArgumentError>(
        name, "stddev " + tandem::detail::shortest_text(o.stddev.number()) + " is negative");
  const bool fused = !o.mean.is_tensor() && !o.stddev.is_tensor();
  const OpOptions named{o.name, o.where};
  const DType dtype = is_half(o.dtype) ? DType::float32 : o.dtype;
  rules::RandomAttrs a{.shape = {}, .dtype = dtype, .device = {}, .a = 0, .b = 1, .low = 0, .high = 0};
  if (fused) a.a = o.mean.number(), a.b = o.stddev.number();
  Tensor z = cast(make(op, key, shape, a, named), o.dtype);
  if (fused) return z;
  z = o.stddev.is_tensor() ? z * o.stddev.tensor() : z * Scalar(o.stddev.number());
  return o.mean.is_tensor() ? z + o.mean.tensor() : z + Scalar(o.mean.number());
}

// The bounds of an integer dtype; those of uint64 as the bits of signed integers.
inline rules::RandomAttrs whole_interval(const UniformOptions& o) {
  if (!o.maxval)
    errors::raise<errors::InvalidArgumentError>("random::uniform", std::string(name(o.dtype)) + " needs .maxval");
  const DType widest = o.dtype == DType::uint64 ? DType::uint64 : DType::int64;
  for (const Scalar& end : {o.minval, *o.maxval})
    if (!end.fits(widest)) tandem::detail::raise_unfit("random::uniform", end, widest, name(o.dtype));
  const std::string low = o.minval.text(), high = o.maxval->text();
  if (o.minval.wide() >= o.maxval->wide())
    errors::raise<errors::InvalidArgumentError>("random::uniform", "minval " + low + " is not below maxval " + high);
  const auto last = o.maxval->wide() - 1;
  if (!o.minval.fits(o.dtype) ||
      !(last < 0 ? Scalar(static_cast<i64>(last)) : Scalar(static_cast<u64>(last))).fits(o.dtype))
    errors::raise<errors::InvalidArgumentError>(
        "random::uniform", std::string(name(o.dtype)) + " cannot hold [" + low + ", " + high + ")");
  return {
      .shape = {}, .dtype = o.dtype, .device = {}, .a = 0, .b = 0, .low = o.minval.whole(), .high = o.maxval->whole()};
}
// The largest number of a 16-bit format below x. x must not be the format's lowest number.
template <class H>
float below_in(float x) {
  H h(x);
  if (static_cast<float>(h) < x) return static_cast<float>(h);
  if (h.bits == 0 || h.bits == 0x8000u) h.bits = 0x8001u;
  else h.bits = static_cast<std::uint16_t>(h.bits + (h.bits & 0x8000u ? 1 : -1));
  return static_cast<float>(h);
}
// The upper bound, chosen so that float32 numbers drawn below it are also below it after rounding.
inline double upper_end(DType dtype, double high) {
  const auto x = static_cast<float>(high);
  if (dtype == DType::float16) return std::nextafter(below_in<Half>(x), INFINITY);
  if (dtype == DType::bfloat16) return std::nextafter(below_in<BFloat16>(x), INFINITY);
  return high;
}
inline rules::RandomAttrs real_interval(const UniformOptions& o, DType dtype) {
  const double minval = o.minval.real(), maxval = o.maxval ? o.maxval->real() : 1;
  double low = minval, high = maxval;
  if (dtype == DType::float32) low = static_cast<float>(low), high = static_cast<float>(high);
  if (!(low < high))
    errors::raise<errors::InvalidArgumentError>("random::uniform", "minval " + tandem::detail::shortest_text(minval) +
                                                                       " is not below maxval " +
                                                                       tandem::detail::shortest_text(maxval));
  const double width = high - low;
  if (!std::isfinite(dtype == DType::float32 ? static_cast<float>(width) : width))
    errors::raise<errors::InvalidArgumentError>("random::uniform", "the interval is wider than the dtype's range");
  return {.shape = {}, .dtype = dtype, .device = {}, .a = low, .b = high, .low = 0, .high = 0};
}
inline Tensor uniform_from(const Dims& shape, const Tensor& key, const UniformOptions& o) {
  const OpOptions named{o.name, o.where};
  if (is_integer(o.dtype)) return make(random_uniform_op, key, shape, whole_interval(o), named);
  if (!is_floating(o.dtype))
    errors::raise<errors::InvalidArgumentError>("random::uniform",
                                                std::string(name(o.dtype)) + " is neither floating nor an integer");
  const DType dtype = is_half(o.dtype) ? DType::float32 : o.dtype;
  rules::RandomAttrs a = real_interval(o, dtype);
  a.b = upper_end(o.dtype, a.b);
  return cast(make(random_uniform_op, key, shape, a, named), o.dtype);
}
inline Tensor bits_from(const Dims& shape, const Tensor& key, const BitsOptions& o) {
  if (!is_integer(o.dtype) || size_of(o.dtype) < 4)
    errors::raise<errors::InvalidArgumentError>("random::bits",
                                                std::string(name(o.dtype)) + " is not an integer of 32 or 64 bits");
  return make(random_bits_op, key, shape,
              {.shape = {}, .dtype = o.dtype, .device = {}, .a = 0, .b = 0, .low = 0, .high = 0}, {o.name, o.where});
}

}  // namespace impl

TANDEM_INLINE Tensor normal(const Dims& shape, NormalOptions o) {
  const tandem::detail::CallSite call(o);
  return impl::normal_from("random::normal", random_normal_op, shape, next_key("random::normal", {o.seed, o.generator}),
                           o);
}
TANDEM_INLINE Tensor truncated_normal(const Dims& shape, NormalOptions o) {
  const tandem::detail::CallSite call(o);
  return impl::normal_from("random::truncated_normal", truncated_normal_op, shape,
                           next_key("random::truncated_normal", {o.seed, o.generator}), o);
}
TANDEM_INLINE Tensor uniform(const Dims& shape, UniformOptions o) {
  const tandem::detail::CallSite call(o);
  return impl::uniform_from(shape, next_key("random::uniform", {o.seed, o.generator}), o);
}
TANDEM_INLINE Tensor bits(const Dims& shape, BitsOptions o) {
  const tandem::detail::CallSite call(o);
  return impl::bits_from(shape, next_key("random::bits", {o.seed, o.generator}), o);
}

TANDEM_INLINE Seed::Seed(std::initializer_list<i64> two) {
  key_ = Tensor::allocate({Shape{static_cast<i64>(two.size())}, DType::int64, {}});
  std::copy(two.begin(), two.end(), static_cast<i64*>(key_.raw()));
}
TANDEM_INLINE Tensor Seed::key(const char* op) const {
  const Spec& s = key_.spec();
  if (!dtypes::index.has(s.dtype) || !s.shape.is_compatible_with(Shape{2}))
    errors::raise<errors::InvalidArgumentError>(op, "a seed must be two integers, int64[2], not " + to_string(s));
  return cast(key_, DType::int64);
}
TANDEM_INLINE Tensor stateless_normal(const Dims& shape, const Seed& seed, NormalOptions o) {
  const tandem::detail::CallSite call(o);
  return impl::normal_from("random::stateless_normal", random_normal_op, shape,
                           impl::stateless_key("random::stateless_normal", seed, o), o);
}
TANDEM_INLINE Tensor stateless_truncated_normal(const Dims& shape, const Seed& seed, NormalOptions o) {
  const tandem::detail::CallSite call(o);
  return impl::normal_from("random::stateless_truncated_normal", truncated_normal_op, shape,
                           impl::stateless_key("random::stateless_truncated_normal", seed, o), o);
}
TANDEM_INLINE Tensor stateless_uniform(const Dims& shape, const Seed& seed, UniformOptions o) {
  const tandem::detail::CallSite call(o);
  return impl::uniform_from(shape, impl::stateless_key("random::stateless_uniform", seed, o), o);
}
TANDEM_INLINE Tensor stateless_bits(const Dims& shape, const Seed& seed, BitsOptions o) {
  const tandem::detail::CallSite call(o);
  return impl::bits_from(shape, impl::stateless_key("random::stateless_bits", seed, o), o);
}

}  // namespace random
}  // namespace TANDEM_NS
