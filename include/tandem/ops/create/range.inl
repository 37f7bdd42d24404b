// Definitions of ops/create/range.hpp.
#pragma once
#include <cmath>

#include "tandem/core/scope.hpp"
#include "tandem/cpu/create/sequence.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/create/outside_trace.hpp"
#include "tandem/ops/create/range.hpp"
#include "tandem/ops/cuda_kernels.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/shape/reshape.hpp"
#include "tandem/ops/transfer.hpp"
#include "tandem/util/format.hpp"

namespace TANDEM_NS {

namespace detail {

// The length of integer ranges is computed in 128 bits, because limit - start may not fit in 64.
TANDEM_INLINE i64 whole_count(const char* op, const Scalar& start, const Scalar& limit, const Scalar& delta) {
  const __int128 span = limit.wide() - start.wide(), d = delta.wide();
  if (d == 0 || (span != 0 && (span > 0) != (d > 0)))
    errors::raise<errors::InvalidArgumentError>(op, "from " + start.text() + " to " + limit.text() + " in steps of " +
                                                        delta.text() + " never reaches the limit");
  const __int128 n = (span + d - (d > 0 ? 1 : -1)) / d;
  if (n > INT64_MAX) errors::raise<errors::InvalidArgumentError>(op, "more elements than a tensor can have");
  return static_cast<i64>(n);
}
TANDEM_INLINE double rounded_to(DType dtype, double x) {
  return dtype == DType::float32 ? static_cast<double>(static_cast<float>(x)) : x;
}
// The length is computed in the range's dtype, as TensorFlow does, and NumPy from numbers of that dtype: 0.3 / 0.1 is 3
// in float32, but 3.00000007 if the same two numbers are divided in float64.
TANDEM_INLINE i64 real_count(const char* op, DType dtype, double start, double limit, double delta) {
  const double span = rounded_to(dtype, rounded_to(dtype, limit) - rounded_to(dtype, start));
  const double step = rounded_to(dtype, delta), n = std::ceil(rounded_to(dtype, span / step));
  const auto raise = [&](const char* why) {
    errors::raise<errors::InvalidArgumentError>(op, "from " + shortest_text(start) + " to " + shortest_text(limit) +
                                                        " in steps of " + shortest_text(delta) + why);
  };
  if (step == 0 || (span != 0 && (span > 0) != (step > 0)) || !(n >= 0)) raise(" never reaches the limit");
  if (n >= 9e18) raise(" has more elements than a tensor can have");
  return static_cast<i64>(n);
}
TANDEM_INLINE i64 range_count(const char* op, DType dtype, const void* start, const void* limit, const void* delta) {
  using cpu::read_real, cpu::read_whole;
  const auto whole = [dtype](const void* p) {
    return dtype == DType::uint64 ? Scalar(*static_cast<const u64*>(p)) : Scalar(read_whole(dtype, p));
  };
  if (is_integer(dtype)) return whole_count(op, whole(start), whole(limit), whole(delta));
  return real_count(op, dtype, read_real(dtype, start), read_real(dtype, limit), read_real(dtype, delta));
}
TANDEM_INLINE Specs infer_range(const InferCall& c) {
  const DType dtype = c.spec(0).dtype;
  bool known = true;
  for (std::size_t i = 0; i < 3; ++i) {
    if (c.spec(i).shape.rank() != 0 || c.spec(i).dtype != dtype)
      raise_specs(c, "start, limit and delta must be of rank 0 and one dtype");
    known &= c.in[i]->raw() != nullptr;
  }
  const i64 n = known ? range_count(c.op.name, dtype, c.in[0]->raw(), c.in[1]->raw(), c.in[2]->raw()) : none;
  return Specs(Spec{Shape{n}, dtype, {}});
}
TANDEM_INLINE Specs resolve_range(const KernelCall& c) {
  const DType dtype = c.in[0].spec->dtype;
  return Specs(Spec{Shape{range_count(c.op, dtype, c.in[0].data, c.in[1].data, c.in[2].data)}, dtype, {}});
}

// Input 1, if present, is maxlen.
TANDEM_INLINE i64 checked_maxlen(const char* op, DType dtype, const void* data) {
  const i64 n = cpu::read_whole(dtype, data);
  if (n < 0) errors::raise<errors::InvalidArgumentError>(op, "maxlen " + std::to_string(n) + " is negative");
  return n;
}
TANDEM_INLINE Specs infer_sequence_mask(const InferCall& c) {
  Specs out(c.spec(0));
  out[0].dtype = c.get<rules::SequenceMaskAttrs>().dtype;
  if (!(dtypes::real | dtypes::boolean).has(out[0].dtype))
    raise_specs(c, std::string("a mask cannot be ") + name(out[0].dtype));
  i64 last = none;
  if (c.in.size() > 1) {
    if (c.spec(1).shape.rank() != 0 || !dtypes::index.has(c.spec(1).dtype))
      raise_specs(c, "maxlen must be int32 or int64, of rank 0");
    if (c.in[1]->raw()) last = checked_maxlen(c.op.name, c.spec(1).dtype, c.in[1]->raw());
  }
  out[0].shape.push_back(last);
  return out;
}
TANDEM_INLINE Specs resolve_sequence_mask(const KernelCall& c) {
  Specs out(*c.in[0].spec);
  out[0].dtype = c.attrs.get<rules::SequenceMaskAttrs>().dtype;
  out[0].shape.push_back(c.in.size() > 1 ? checked_maxlen(c.op, c.in[1].spec->dtype, c.in[1].data)
                                         : cpu::longest(c.in[0]));
  return out;
}

}  // namespace detail

TANDEM_INLINE constexpr OpDef range_op{.name = "range",
                                       .input_names = "start, limit, delta",
                                       .infer = &detail::infer_range,
                                       .cpu = &cpu::range,
                                       .dtypes = dtypes::real,
                                       .inputs = 3,
                                       .saves = Saves::nothing,
                                       .host_inputs = 7,
                                       .flags = {.non_differentiable = true},
                                       .rare = {.resolve = &detail::resolve_range}};
TANDEM_INLINE constexpr OpDef sequence_mask_op{.name = "sequence_mask",
                                               .input_names = "lengths, maxlen",
                                               .infer = &detail::infer_sequence_mask,
                                               .cpu = &cpu::sequence_mask,
                                               .cuda = TANDEM_CUDA(&cuda::sequence_mask),
                                               .dtypes = dtypes::index,
                                               .inputs = at_least(1),
                                               .saves = Saves::nothing,
                                               .host_inputs = 2,
                                               .flags = {.non_differentiable = true},
                                               .attrs = &detail::attr_type<rules::SequenceMaskAttrs>,
                                               .rare = {.resolve = &detail::resolve_sequence_mask}};

namespace detail {
// Checks the arguments of an integer range: they must be integers, and the first and the last element must fit the
// dtype, so that all elements do.
TANDEM_INLINE void check_whole_range(const Scalar& start, const Scalar& limit, const Scalar& delta, DType dtype) {
  const std::string meets = std::string(name(dtype)) + "; give another .dtype";
  for (const Scalar* x : {&start, &limit, &delta})
    if (!x->fits(DType::int64) && !x->fits(DType::uint64)) raise_unfit("range", *x, dtype, meets);
  const i64 n = whole_count("range", start, limit, delta);
  if (n == 0) return;
  const __int128 last = start.wide() + delta.wide() * (n - 1);
  const Scalar end = last > INT64_MAX ? Scalar(static_cast<u64>(last)) : Scalar(static_cast<i64>(last));
  for (const Scalar* x : {&start, &end})
    if (!x->fits(dtype)) raise_unfit("range", *x, dtype, meets);
}
}  // namespace detail

TANDEM_INLINE Tensor detail::range_of_numbers(Scalar start, Scalar limit, Scalar delta, DType natural,
                                              const RangeOptions& o) {
  const CallSite call(o);
  const DType dtype = o.dtype ? *o.dtype : natural;
  const bool whole = is_integer(dtype);
  if (!dtypes::real.has(dtype))
    errors::raise<errors::InvalidArgumentError>("range", std::string(name(dtype)) + " is not a supported dtype");
  if (whole) check_whole_range(start, limit, delta, dtype);
  const i64 n = whole ? whole_count("range", start, limit, delta)
                      : real_count("range", dtype, start.real(), limit.real(), delta.real());
  const OutsideTrace outside;
  const Tensor t = allocate_for("range", Shape{n}, dtype);
  if (whole) cpu::count_whole(t.raw(), dtype, n, start.whole(), delta.whole());
  else cpu::count_real(t.raw(), dtype, n, start.real(), delta.real());
  return detail::to_current_device(t);
}
TANDEM_INLINE Tensor range(const Tensor& start, const Tensor& limit, const Tensor& delta, OpOptions o) {
  const tandem::detail::CallSite call(o);
  return apply1(range_op, no_attrs, o, start, limit, delta);
}

TANDEM_INLINE Tensor detail::range_to(const Tensor& limit, const OpOptions& o) {
  return range(tandem::detail::scalar_like(0, limit), limit, tandem::detail::scalar_like(1, limit), o);
}

namespace detail {
TANDEM_INLINE void check_num(i64 num) {
  if (num < 1)
    errors::raise<errors::InvalidArgumentError>("linspace", std::to_string(num) + " points; at least one is needed");
}
// i / (num - 1) for i < num, exactly 0 and 1 at the ends.
TANDEM_INLINE Tensor unit_steps(i64 num, DType dtype, bool reversed) {
  const OutsideTrace outside;
  Tensor t = allocate_for("linspace", Shape{num}, dtype);
  const double last = num > 1 ? static_cast<double>(num - 1) : 1;
  for (i64 i = 0; i < num; ++i) {
    const double x = static_cast<double>(i) / last;
    cpu::write_number(static_cast<char*>(t.raw()) + static_cast<std::size_t>(i) * size_of(dtype), dtype,
                      reversed ? 1 - x : x, 0);
  }
  return t;
}
}  // namespace detail

TANDEM_INLINE Tensor linspace(Scalar start, Scalar stop, i64 num, LinspaceOptions o) {
  const tandem::detail::CallSite call(o);
  detail::check_num(num);
  const DType dtype = o.dtype.value_or(DType::float32);
  if (dtypes::half_floating.has(dtype)) return cast(linspace(start, stop, num, {.axis = o.axis}), dtype);
  if (!dtypes::floating.has(dtype))
    errors::raise<errors::InvalidArgumentError>("linspace",
                                                std::string("the dtype must be floating, not ") + name(dtype));
  resolve_axis("linspace", o.axis, 1);
  const detail::OutsideTrace outside;
  const Tensor t = detail::allocate_for("linspace", Shape{num}, dtype);
  const double step = num > 1 ? (stop.real() - start.real()) / static_cast<double>(num - 1) : 0;
  cpu::count_real(t.raw(), dtype, num, start.real(), step);
  if (num > 1)
    cpu::write_number(static_cast<char*>(t.raw()) + static_cast<std::size_t>(num - 1) * size_of(dtype), dtype,
                      stop.real(), 0);
  return detail::to_current_device(t);
}
TANDEM_INLINE Tensor linspace(const Tensor& start, const Tensor& stop, i64 num, LinspaceOptions o) {
  const tandem::detail::CallSite call(o);
  detail::check_num(num);
  if (start.dtype() != stop.dtype() || !is_floating(start.dtype()) || !start.shape().is_compatible_with(stop.shape()))
    errors::raise<errors::InvalidArgumentError>(
        "linspace", "start and stop must be floating and have the same shape and dtype: " + to_string(start.spec()) +
                        " x " + to_string(stop.spec()));
  if (o.dtype && *o.dtype != start.dtype())
    errors::raise<errors::InvalidArgumentError>("linspace", std::string("start and stop are ") + name(start.dtype()) +
                                                                ", but .dtype is " + name(*o.dtype) +
                                                                "; cast start and stop");
  const int rank = start.rank(), axis = resolve_axis("linspace", o.axis, rank + 1);
  if (dtypes::half_floating.has(start.dtype())) {  // rounded once
    const Tensor wide =
        linspace(cast(start, DType::float32), cast(stop, DType::float32), num, {.where = o.where, .axis = o.axis});
    return cast(wide, start.dtype(), {o.name, o.where});
  }
  Shape along;
  for (int i = 0; i <= rank; ++i) along.push_back(i == axis ? num : 1);
  const auto steps = [&](bool reversed) {
    const Tensor t = detail::unit_steps(num, start.dtype(), reversed);
    return Tensor::view_of(t, {along, t.dtype(), {}});
  };
  const OpOptions named{o.name, o.where};
  return add(expand_dims(start, axis) * steps(true), expand_dims(stop, axis) * steps(false), named);
}

TANDEM_INLINE Tensor detail::sequence_mask_to(const Tensor& lengths, const Tensor* maxlen,
                                              const SequenceMaskOptions& o) {
  alignas(16) char element[16];
  if (!cpu::write_number(element, o.dtype, 1, 1))
    errors::raise<errors::InvalidArgumentError>("sequence_mask",
                                                std::string("dtype ") + name(o.dtype) + " is not numeric");
  const Tensor* const in[] = {&lengths, maxlen};
  return std::move(
      apply(sequence_mask_op, {in, maxlen ? 2u : 1u}, rules::SequenceMaskAttrs{o.dtype}, {o.name, o.where})[0]);
}
TANDEM_INLINE Tensor sequence_mask(const Tensor& lengths, std::optional<i64> maxlen, SequenceMaskOptions o) {
  const tandem::detail::CallSite call(o);
  if (!maxlen) return detail::sequence_mask_to(lengths, nullptr, o);
  const Tensor last = Tensor::allocate({Shape{}, DType::int64, {}});
  *static_cast<i64*>(last.raw()) = *maxlen;
  return detail::sequence_mask_to(lengths, &last, o);
}

}  // namespace TANDEM_NS
