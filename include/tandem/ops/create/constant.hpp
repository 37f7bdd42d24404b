// Tensors from C++ values: literals in nested braces, containers, pointers, borrowed memory.
#pragma once
#include <concepts>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "tandem/base/scalar.hpp"
#include "tandem/core/apply.hpp"
#include "tandem/ops/shape_arg.hpp"

namespace TANDEM_NS {

/// A literal: a number, a string, or braces around literals of one kind and shape. A float or double literal makes
/// float32, an int int32, a long int64, a bool bool_, text string; a typed container keeps its own type.
class TANDEM_API Literal {
 public:
  template <class T>
    requires std::is_arithmetic_v<T> Literal(T x) : dtype_(literal_dtype<T>), number_(x) {}
    Literal(Dimension d) : Literal(static_cast<i64>(d)) {}
    template <detail::ComplexLike T>
    Literal(const T& z) : dtype_(DType::complex64), number_(z.real()), imag_(z.imag()) {}
    Literal(const char* x) : dtype_(DType::string), text_(x) {}
    Literal(std::string_view x) : dtype_(DType::string), text_(x) {}
    Literal(const std::string& x) : dtype_(DType::string), text_(x) {}
    Literal(std::initializer_list<Literal> items) : is_list_(true), items_(items) {}

   private:
    friend struct LiteralReader;
    DType dtype_ = DType::float32;
    bool is_list_ = false;
    Scalar number_ = 0;
    double imag_ = 0;
    std::string text_;
    std::vector<Literal> items_;
};

struct ConstantOptions {
  TANDEM_OP_OPTIONS;
  std::optional<DType> dtype = {};  ///< of the tensor; an integer dtype or bool_ must hold the values exactly
  ShapeArg shape = {};              ///< one value fills it; exactly size-many are laid out row by row
};

namespace detail {
template <class C>
concept TypedContainer = requires(const C& c) {
  typename C::value_type;
  { c.data() } -> std::convertible_to<const typename C::value_type*>;
  { c.size() } -> std::convertible_to<std::size_t>;
}
&&!std::is_convertible_v<const C&, std::string_view> && !std::same_as<C, std::vector<bool>>;

template <class C>
concept NestedContainer = TypedContainer<C> && TypedContainer<typename C::value_type>;
[[noreturn]] TANDEM_API void raise_ragged(const Shape& first, const Shape& other);
// The elements of containers in containers, row by row.
template <class C>
struct Flattened {
  std::vector<typename C::value_type> elements;
  Shape shape;
  static constexpr int depth = 1;

  explicit Flattened(const C& c) : elements(c.data(), c.data() + c.size()), shape{static_cast<i64>(c.size())} {}
};
template <NestedContainer C>
struct Flattened<C> {
  using Row = Flattened<typename C::value_type>;
  decltype(Row::elements) elements;
  Shape shape;
  static constexpr int depth = Row::depth + 1;

  explicit Flattened(const C& rows) {
    for (const auto& r : rows) {
      const Row row(r);
      if (shape.rank() == 0) shape = row.shape;
      if (!(shape == row.shape)) raise_ragged(shape, row.shape);
      elements.insert(elements.end(), row.elements.begin(), row.elements.end());
    }
    while (shape.rank() < Row::depth) shape.push(0);
    shape.insert(0, static_cast<i64>(rows.size()));
  }
};

/// Copies count elements; gives them the shape asked for, [count] without.
TANDEM_API Tensor constant_from(DType dtype, const void* data, std::size_t count, const ConstantOptions& options);
}  // namespace detail

/// A tensor with the values of a literal: constant(3), constant({{1.f, 2.f}, {3.f, 4.f}}), constant({"a", "b"}).
///   returns   the braces' shape (rank 0 to 8), host memory, dtype by the literal or `.dtype`
///   throws    errors::InvalidArgumentError for ragged braces (naming the position), mixed kinds, a number that
///             `.dtype` cannot hold (300 in uint8, 1.5 in int32, 2 in bool_; cast converts those), or a `.shape` that
///             neither one value nor all values fill
///   gradient  none
TANDEM_API Tensor constant(const Literal& value, ConstantOptions options = {});
/// A tensor with the elements of a vector, array or span, of the container's own dtype or `.dtype`, which must hold
/// them as it must hold literals; shape [n] or `.shape`.
template <detail::TypedContainer C>
Tensor constant(const C& values, ConstantOptions options = {}) {
  return detail::constant_from(dtype_of<typename C::value_type>(), values.data(), values.size(), options);
}
/// Nested containers, {{1, 2}, {3, 4}} in vectors of vectors; rows of one depth have one size.
template <detail::NestedContainer C>
Tensor constant(const C& rows, ConstantOptions options = {}) {
  const detail::Flattened<C> flat(rows);
  if (!options.shape.get()) options.shape = flat.shape;
  return constant(flat.elements, options);
}
template <std::same_as<std::vector<bool>> C>  // a template: {1, 0} must not be taken for a vector
Tensor constant(const C& values, ConstantOptions options = {}) {
  const std::vector<unsigned char> bytes(values.begin(), values.end());
  return detail::constant_from(DType::bool_, bytes.data(), bytes.size(), options);
}
/// The same with the dtype by position: constant({1, 2}, float32).
template <std::same_as<DType> D>
Tensor constant(const Literal& value, D dtype, ConstantOptions options = {}) {
  return options.dtype = dtype, constant(value, options);
}
template <class C, std::same_as<DType> D>
  requires(detail::TypedContainer<C> || std::same_as<C, std::vector<bool>>)
Tensor constant(const C& values, D dtype, ConstantOptions options = {}) {
  return options.dtype = dtype, constant(values, options);
}
/// A tensor with shape.size() elements copied from a pointer.
template <class T>
  requires(!std::same_as<T, char>)  // "text" is a literal
Tensor constant(const T* values, const Shape& shape) {
  return detail::constant_from(dtype_of<T>(), values, static_cast<std::size_t>(shape.size()), {.shape = shape});
}

/// The tensor itself; a Variable's value; or a constant.
inline Tensor convert_to_tensor(const Tensor& x) { return x; }
inline Tensor convert_to_tensor(const Literal& value, ConstantOptions options = {}) { return constant(value, options); }
template <detail::TypedContainer C>
Tensor convert_to_tensor(const C& values, ConstantOptions options = {}) {
  return constant(values, options);
}

/// A tensor on memory that someone else owns: no copy. The memory must not change while the tensor or anything made
/// from it lives; `owner`, where given, is released with the last handle.
template <class T>
Tensor from_blob(const T* values, const Shape& shape, Ref<Opaque> owner = {}) {
  return Tensor::borrow(values, {shape, dtype_of<T>(), {}}, std::move(owner));
}

}  // namespace TANDEM_NS

#ifdef TANDEM_IMPLEMENT_CREATE
#include <cstring>

#include "tandem/core/scope.hpp"
#include "tandem/cpu/fill.hpp"
#include "tandem/ops/cast.hpp"
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
    if (depth == shape.rank() && !seen) shape.push(n);
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
    if (seen && x.dtype_ != dtype)
      errors::raise<errors::InvalidArgumentError>(
          "constant", std::string("mixes ") + name(dtype) + " and " + name(x.dtype_) + " literals, at " + position);
    dtype = x.dtype_;
    seen = true;
    if (asked && dtype != DType::string && !x.number_.fits(*asked))
      detail::raise_unfit("constant", x.number_, *asked,
                          name(*asked) + (position.empty() ? "" : ", at " + position) + "; cast a constant of it");
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
      cpu::write_number(at, dtype, x.number_.real(), x.number_.whole());
    }
    if (dtype == DType::complex64) reinterpret_cast<float*>(at)[1] = static_cast<float>(x.imag_);
    if (dtype == DType::complex128) reinterpret_cast<double*>(at)[1] = x.imag_;
    to = at + size_of(dtype);
  }
  // What a literal is stored as before `.dtype` converts it: a double keeps its digits where float32 is not asked for.
  DType stored() const {
    if (!asked || *asked == dtype) return dtype;
    if (dtype == DType::complex64) return *asked == DType::complex128 ? *asked : dtype;
    return dtype == DType::float32 ? DType::float64 : dtype;
  }
};

namespace detail {

// The shape in which values are laid out: the one asked for if they fill it, else their own.
TANDEM_INLINE Shape layout(const Shape& own, const ConstantOptions& o) {
  const Shape* want = o.shape.get();
  return want && want->is_fully_defined() && want->size() == own.size() ? *want : own;
}
// Applies .dtype, .shape and the device scope to laid-out values.
TANDEM_INLINE Tensor finish_constant(Tensor t, const ConstantOptions& o) {
  if (const Shape* want = o.shape.get(); want && !(t.shape() == *want)) {
    if (!want->is_fully_defined() || t.size() != 1)
      errors::raise<errors::InvalidArgumentError>(
          "constant", std::to_string(t.size()) + " values do not fill the shape " + to_string(*want) +
                          " (one value, or exactly as many as it has elements)");
    const Tensor one = std::exchange(t, Tensor::allocate({*want, t.dtype(), {}}));
    cpu::fill_elements(t.raw(), t.dtype(), one.raw(), t.size());
  }
  if (o.dtype && *o.dtype != t.dtype()) t = cast(t, *o.dtype);
  return current_device() == t.device() ? t : t.to(current_device());
}
template <class T, class Number = T>
void check_all_fit(const void* data, std::size_t count, DType to) {
  for (std::size_t i = 0; i < count; ++i)
    if (const Scalar x(static_cast<Number>(static_cast<const T*>(data)[i])); !x.fits(to)) [[unlikely]]
      raise_unfit("constant", x, to, name(to) + (", at [" + std::to_string(i) + "]; cast a constant of it"));
}
// cast would truncate or wrap what an integer dtype or bool_ does not hold.
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
    default: return;  // bool_ fits all; complex numbers and strings are for cast to refuse or convert
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

TANDEM_INLINE Tensor detail::scalar_like(Scalar value, const Tensor& like) {
  const Spec& s = like.spec();
  if (!value.fits(s.dtype)) [[unlikely]]
    detail::raise_unfit("scalar", value, s.dtype, to_string(s) + "; cast the tensor first");
  const Tensor t = Tensor::allocate({Shape{}, s.dtype, {}});
  if (!cpu::write_number(t.raw(), s.dtype, value.real(), value.whole())) [[unlikely]]
    errors::raise<errors::UnimplementedError>("scalar", "a number cannot meet a tensor " + to_string(s));
  return s.device.kind == Device::cpu ? t : t.to(s.device);
}

}  // namespace TANDEM_NS
#endif
