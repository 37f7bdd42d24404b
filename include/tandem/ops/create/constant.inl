// Definitions of ops/create/constant.hpp.
#pragma once
#include <cstring>

#include "tandem/core/scope.hpp"
#include "tandem/core/variable.hpp"
#include "tandem/cpu/create/fill.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/create/constant.hpp"
#include "tandem/ops/create/outside_trace.hpp"
#include "tandem/ops/pointwise/operand.hpp"
#include "tandem/ops/transfer.hpp"

namespace TANDEM_NS {

// Walks a literal twice: once for shape and dtype, once to write the elements.
struct LiteralReader {
  Shape shape;
  DType dtype = DType::float32;
  bool seen = false;
  std::string position;        // "[1][0]", for errors
  std::optional<DType> asked;  // ConstantOptions::dtype

  void measure(const Literal& x, int depth) {
    if (!x.is_list_) return leaf(x, depth);
    if (depth == max_rank) raise_rank_above_max(depth + 1);
    const auto n = static_cast<i64>(x.items_.size());
    if (depth == shape.rank() && !seen) shape.push_back(n);
    else if (depth >= shape.rank() || shape.dim(depth) != n)
      ragged(depth >= shape.rank()
                 ? "a list where a value was expected"
                 : std::to_string(n) + " items where the first list has " + std::to_string(shape.dim(depth)));
    for (i64 i = 0; i < n; ++i) {
      const std::size_t end = position.size();
      position += "[" + std::to_string(i) + "]";
      measure(x.items_[static_cast<std::size_t>(i)], depth + 1);
      position.resize(end);
    }
  }
  void leaf(const Literal& x, int depth) {
    if (depth != shape.rank()) ragged("a value where a list was expected");
    dtype = seen ? promoted(x.dtype_) : x.dtype_;
    seen = true;
    if (asked && x.imag_ != 0 && !is_complex(*asked))
      errors::raise<errors::InvalidArgumentError>(
          "constant", "a complex number is not representable in " +
                          (name(*asked) + (position.empty() ? "" : ", at " + position)) + "; cast a constant of it");
    if (asked && dtype != DType::string && !x.number_.fits(*asked))
      detail::raise_unfit("constant", x.number_, *asked,
                          name(*asked) + (position.empty() ? "" : ", at " + position) + "; cast a constant of it");
  }
  // The dtype of the literals so far and one more.
  DType promoted(DType next) const {
    if (next == dtype) return dtype;
    const bool text = dtype == DType::string || next == DType::string;
    const bool bools = dtype == DType::bool_ || next == DType::bool_;
    if (text || (bools && !asked)) mixed(next, text ? "" : "; give the dtype, in which true is 1");
    if (bools) return dtype == DType::bool_ ? next : dtype;
    for (DType d : {DType::complex64, DType::float32})
      if (dtype == d || next == d) return d;
    for (DType d : {DType::int16, DType::uint16, DType::int32, DType::uint32, DType::int64, DType::uint64})
      if (includes(d, dtype) && includes(d, next)) return d;
    if (!asked) mixed(next, "; give the dtype");  // negative numbers and those beyond int64
    return DType::uint64;
  }
  [[noreturn]] void mixed(DType next, const char* remedy) const {
    errors::raise<errors::InvalidArgumentError>(
        "constant", std::string("mixes ") + name(dtype) + " and " + name(next) + " literals, at " + position + remedy);
  }
  // Whether the integers of dtype `part` are among those of `all`.
  static bool includes(DType all, DType part) {
    const bool has_sign = dtypes::signed_integer.has(all), alike = has_sign == dtypes::signed_integer.has(part);
    return alike ? size_of(all) >= size_of(part) : has_sign && size_of(all) > size_of(part);
  }
  [[noreturn]] void ragged(const std::string& what) const {
    errors::raise<errors::InvalidArgumentError>(
        "constant", "ragged braces at " + (position.empty() ? "[]" : position) + ": " + what);
  }
  void write(const Literal& x, void*& to) const {
    for (const Literal& item : x.items_) write(item, to);
    if (x.is_list_) return;
    char* at = static_cast<char*>(to);
    if (dtype == DType::string) {
      *reinterpret_cast<Bytes*>(at) = Bytes(x.text_);
    } else {
      // An integer is rounded once.
      const bool narrow = is_integer(x.dtype_) && dtype != DType::float64 && dtype != DType::complex128;
      const double real = narrow ? static_cast<float>(x.number_.wide()) : x.number_.real();
      cpu::write_number(at, dtype, real, x.number_.whole());
    }
    if (dtype == DType::complex64) reinterpret_cast<float*>(at)[1] = static_cast<float>(x.imag_);
    if (dtype == DType::complex128) reinterpret_cast<double*>(at)[1] = x.imag_;
    to = at + size_of(dtype);
  }
  // The dtype that a literal is written in before it is converted to `.dtype`: that dtype, where numbers can be written
  // in it.
  DType stored() const {
    constexpr DTypes writable = dtypes::number | dtypes::half_floating | dtypes::boolean | DType::complex128;
    if (!asked || dtype == DType::string || *asked == dtype) return dtype;
    if (writable.has(*asked)) return *asked;
    return dtype == DType::float32 ? DType::float64 : dtype;
  }
};

namespace detail {

// The shape in which values are laid out: the requested shape if they fill it, else their own.
TANDEM_INLINE Shape layout(const Shape& own, const ConstantOptions& o) {
  const Shape* want = o.shape.get();
  if (!want || !want->is_fully_defined()) return own;
  i64 n = 1;
  for (const i64 d : *want)
    if (__builtin_mul_overflow(n, d, &n)) return own;
  return n == own.size() ? *want : own;
}
// Applies .dtype, .shape and the device scope to laid-out values.
TANDEM_INLINE Tensor finish_constant(Tensor t, const ConstantOptions& o) {
  if (const Shape* want = o.shape.get(); want && !(t.shape() == *want)) {
    if (!want->is_fully_defined() || t.size() != 1)
      errors::raise<errors::InvalidArgumentError>(
          "constant", std::to_string(t.size()) + " values do not fill the shape " + to_string(*want) +
                          " (one value, or exactly as many as it has elements)");
    const Tensor one = std::exchange(t, allocate_for("constant", *want, t.dtype()));
    cpu::fill_elements(t.raw(), t.dtype(), one.raw(), t.size());
  }
  if (o.dtype && *o.dtype != t.dtype()) t = cast(t, *o.dtype);
  return to_current_device(t);
}
template <class T, class Number = T>
void check_all_fit(const void* data, std::size_t count, DType to) {
  for (std::size_t i = 0; i < count; ++i)
    if (const Scalar x(static_cast<Number>(static_cast<const T*>(data)[i])); !x.fits(to)) [[unlikely]]
      raise_unfit("constant", x, to, name(to) + (", at [" + std::to_string(i) + "]; cast a constant of it"));
}
// Raises for values that an integer dtype or bool_ cannot represent, which cast would truncate or wrap.
TANDEM_INLINE void check_elements_fit(DType from, const void* data, std::size_t count, DType to) {
  if (from == to || !(is_integer(to) || to == DType::bool_)) return;
  switch (from) {
    case DType::float32: return check_all_fit<float>(data, count, to);
    case DType::float64: return check_all_fit<double>(data, count, to);
    case DType::float16: return check_all_fit<Half, float>(data, count, to);
    case DType::bfloat16: return check_all_fit<BFloat16, float>(data, count, to);
    case DType::int8: return check_all_fit<std::int8_t>(data, count, to);
    case DType::int16: return check_all_fit<std::int16_t>(data, count, to);
    case DType::int32: return check_all_fit<std::int32_t>(data, count, to);
    case DType::int64: return check_all_fit<i64>(data, count, to);
    case DType::uint8: return check_all_fit<std::uint8_t>(data, count, to);
    case DType::uint16: return check_all_fit<std::uint16_t>(data, count, to);
    case DType::uint32: return check_all_fit<std::uint32_t>(data, count, to);
    case DType::uint64: return check_all_fit<u64>(data, count, to);
    default: return;  // bool_ always fits; cast converts or rejects complex numbers and strings
  }
}
TANDEM_INLINE Tensor constant_from(DType dtype, const void* data, std::size_t count, const ConstantOptions& options) {
  if (options.dtype) check_elements_fit(dtype, data, count, *options.dtype);
  const OutsideTrace outside;
  Tensor t = Tensor::allocate({layout(Shape{static_cast<i64>(count)}, options), dtype, {}});
  if (dtype == DType::string) {
    for (std::size_t i = 0; i < count; ++i)
      static_cast<Bytes*>(t.raw())[i] = Bytes(static_cast<const std::string*>(data)[i]);
  } else if (count) {
    std::memcpy(t.raw(), data, count * size_of(dtype));
  }
  return outside.named(finish_constant(std::move(t), options), options.name, options.where);
}

}  // namespace detail

TANDEM_INLINE void detail::raise_ragged(const Shape& first, const Shape& other) {
  errors::raise<errors::InvalidArgumentError>(
      "constant", "the rows differ: the first is of shape " + to_string(first) + ", another of " + to_string(other));
}
TANDEM_INLINE Tensor constant(const Literal& value, ConstantOptions options) {
  const tandem::detail::CallSite call(options);
  LiteralReader reader;
  reader.asked = options.dtype;
  reader.measure(value, 0);
  reader.dtype = reader.stored();
  const detail::OutsideTrace outside;
  Tensor t = Tensor::allocate({detail::layout(reader.shape, options), reader.dtype, {}});
  void* to = t.raw();
  reader.write(value, to);
  return outside.named(detail::finish_constant(std::move(t), options), options.name, options.where);
}
TANDEM_INLINE Variable::Variable(const Literal& initial, VariableOptions options)
    : Variable(constant(initial, {.where = options.where, .dtype = options.dtype}), std::move(options)) {}

TANDEM_INLINE Tensor detail::scalar_like(Scalar value, const Tensor& like) {
  const Spec& s = like.spec();
  if (!value.fits(s.dtype)) [[unlikely]]
    detail::raise_unfit("scalar", value, s.dtype, to_string(s) + "; cast the tensor first");
  const bool on_host = s.device.kind == Device::cpu;
  const Tensor t = Tensor::allocate({Shape{}, s.dtype, on_host ? s.device : Device{}});
  if (!cpu::write_number(t.raw(), s.dtype, value.real(), value.whole())) [[unlikely]]
    errors::raise<errors::UnimplementedError>("scalar", "a number cannot be combined with a tensor " + to_string(s));
  return on_host ? t : t.to(s.device);
}
TANDEM_INLINE Tensor detail::scalar_operand(const char* op, Scalar value, const Tensor& like, const OpOptions& o) {
  const CallSite call(o, op);
  return scalar_like(value, like);
}

}  // namespace TANDEM_NS
