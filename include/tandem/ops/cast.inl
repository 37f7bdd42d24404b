// Definitions of ops/cast.hpp.
#pragma once
#include "tandem/cpu/layout/strided_copy.hpp"
#include "tandem/cpu/pointwise/cast.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/cuda_kernels.hpp"
#include "tandem/ops/pointwise/arith.hpp"

namespace TANDEM_NS {
namespace detail {
inline constexpr DTypes castable =
    dtypes::number | dtypes::half_floating | dtypes::boolean | DType::complex128 | dtypes::quantized;

TANDEM_INLINE Specs infer_cast(const InferCall& c) {
  Spec s = c.spec(0);
  const DType to = c.get<rules::CastAttrs>().to;
  if (!castable.has(s.dtype) || !castable.has(to))
    raise_specs(c, std::string("cannot convert ") + tandem::name(s.dtype) + " to " + tandem::name(to),
                s.dtype == DType::string ? "to_vector<std::string>() returns the strings, which you can parse"
                : to == DType::string    ? "to_string() writes a tensor as text"
                                         : "");
  s.dtype = to;
  return s;
}
TANDEM_INLINE Grads cast_gradient(const GradCall& c) { return {Gradient(tandem::cast(c.g[0], c.in[0].dtype()))}; }

TANDEM_INLINE DenseLoop loop_of_cast(DType from, const Attrs& attrs) {
  return cpu::cast_loop(from, attrs.get<rules::CastAttrs>().to);
}

constexpr OpDef cast_row() {
  return {.name = "cast",
          .infer = &infer_cast,
          .cpu = &cpu::cast,
          .cuda = TANDEM_CUDA(&cuda::cast),
          .loop = &loop_of_cast,
          .gradient = &cast_gradient,
          .saves = Saves::shape,
          .attrs = &attr_type<rules::CastAttrs>};
}
constexpr OpDef whole_cast_row() {
  OpDef r = cast_row();
  r.name = "whole_cast";
  r.gradient = nullptr;
  r.saves = Saves::nothing;
  r.flags.non_differentiable = true;
  r.rare.display = "Cast";
  r.rare.in_errors = "cast";
  return r;
}
TANDEM_INLINE Specs infer_bitcast(const InferCall& c) {
  Spec s = c.spec(0);
  const DType to = c.get<rules::CastAttrs>().to;
  if (s.dtype == DType::string || to == DType::string) raise_specs(c, "strings have no fixed number of bytes");
  if (s.dtype == DType::bool_ || to == DType::bool_)
    raise_specs(c, std::string("cannot reinterpret ") + tandem::name(s.dtype) + " as " + tandem::name(to),
                "most bytes are not a bool; cast converts numbers");
  const auto old = static_cast<i64>(size_of(s.dtype)), now = static_cast<i64>(size_of(to));
  if (old > now) {
    s.shape.push_back(old / now);
  } else if (old < now) {
    if (s.shape.rank() == 0 || (s.shape.dim(-1) != now / old && s.shape.dim(-1) != none))
      raise_specs(c, std::string("the last axis must have size ") + std::to_string(now / old) + " to become " +
                         tandem::name(to));
    s.shape.resize(s.shape.rank() - 1);
  }
  s.dtype = to;
  return s;
}
TANDEM_INLINE void bitcast_kernel(const KernelCall& c) {
  if (c.in[0].spec->bytes() != c.out[0].spec->bytes())
    errors::raise<errors::InvalidArgumentError>(
        c.op, to_string(*c.in[0].spec) + " does not have the bytes of " + to_string(*c.out[0].spec));
  cpu::copy_dense(DType::uint8, c.out[0].data, c.in[0].data, static_cast<i64>(c.out[0].spec->bytes()));
}
TANDEM_INLINE bool is_whole(DType d) { return is_integer(d) || d == DType::bool_ || dtypes::quantized.has(d); }
}  // namespace detail

TANDEM_INLINE constexpr OpDef cast_op = detail::cast_row();
TANDEM_INLINE constexpr OpDef whole_cast_op = detail::whole_cast_row();
TANDEM_INLINE constexpr OpDef bitcast_op{.name = "bitcast",
                                         .infer = &detail::infer_bitcast,
                                         .cpu = &detail::bitcast_kernel,
                                         .cuda = TANDEM_CUDA(&cuda::copy_whole),
                                         .saves = Saves::nothing,
                                         .flags = {.non_differentiable = true, .own_width = true},
                                         .attrs = &detail::attr_type<rules::CastAttrs>};

TANDEM_INLINE Tensor bitcast(const Tensor& x, DType to, OpOptions o) {
  return apply1(bitcast_op, rules::CastAttrs{to}, o, x);
}
TANDEM_INLINE Tensor cast(const Tensor& x, DType to, OpOptions o) {
  const DType from = x.dtype();
  if (from == to) return x;
  return apply1(detail::is_whole(from) || detail::is_whole(to) ? whole_cast_op : cast_op, rules::CastAttrs{to}, o, x);
}

namespace detail {
// The limits of a dtype's range.
struct Range {
  Scalar low, high;
};
TANDEM_INLINE Range range_of(DType d) {
  constexpr double f32 = 0x1.fffffep127, f64 = 0x1.fffffffffffffp1023;
  switch (d) {
    case DType::int8: return {-128, 127};
    case DType::int16: return {-32768, 32767};
    case DType::int32: return {INT32_MIN, INT32_MAX};
    case DType::uint8: return {0, 255};
    case DType::uint16: return {0, 65535};
    case DType::uint32: return {0, UINT32_MAX};
    case DType::uint64: return {0, UINT64_MAX};
    case DType::float16: return {-65504., 65504.};
    case DType::bfloat16: return {-0x1.fep127, 0x1.fep127};
    case DType::float32: return {-f32, f32};
    case DType::float64: return {-f64, f64};
    default: return {INT64_MIN, INT64_MAX};
  }
}
// Whether every value of dtype s is within the range of dtype d.
TANDEM_INLINE bool holds(DType d, DType s) {
  if (is_floating(d)) return is_floating(s) ? size_of(d) >= size_of(s) && d != DType::float16 : d != DType::float16;
  if (!is_integer(s) || !is_integer(d)) return false;
  const bool signed_d = dtypes::signed_integer.has(d), signed_s = dtypes::signed_integer.has(s);
  return signed_d == signed_s ? size_of(d) >= size_of(s) : signed_d && size_of(d) > size_of(s);
}
// Clamps x, which holds values of dtype `from`, to the range that both dtypes share. Float to integer needs no
// clamping: cast saturates. Between floating dtypes both limits are clamped, whichever dtype is wider, because of
// infinity.
TANDEM_INLINE Tensor clamped(const Tensor& x, DType from, DType to) {
  if (!(is_integer(from) || is_floating(from)) || !(is_integer(to) || is_floating(to))) return x;
  if (is_floating(from) && is_integer(to)) return x;
  if (!is_floating(from) && (from == to || holds(to, from))) return x;
  const bool floats = is_floating(from);
  const Range want = range_of(to), have = range_of(from);
  Tensor r = x;
  if (floats || want.low.real() > have.low.real())
    r = maximum(r, tandem::detail::scalar_like(want.low.real() > have.low.real() ? want.low : have.low, x));
  if (floats || want.high.real() < have.high.real())
    r = minimum(r, tandem::detail::scalar_like(want.high.real() < have.high.real() ? want.high : have.high, x));
  return r;
}
}  // namespace detail
TANDEM_INLINE Tensor saturate_cast(const Tensor& x, DType to, OpOptions o) {
  const DType from = x.dtype();
  const bool half = dtypes::half_floating.has(from);  // float32 represents the limits of all dtypes
  return cast(detail::clamped(half ? cast(x, DType::float32) : x, from, to), to, o);
}

}  // namespace TANDEM_NS
