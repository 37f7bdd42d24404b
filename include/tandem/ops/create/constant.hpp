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
