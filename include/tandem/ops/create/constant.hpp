// Creates tensors from C++ values: literals in nested braces, containers, pointers, borrowed memory.
#pragma once
#include <concepts>
#include <optional>
#include <string_view>
#include <vector>

#include "tandem/base/scalar.hpp"
#include "tandem/base/shape_arg.hpp"
#include "tandem/base/span.hpp"
#include "tandem/core/apply.hpp"
#include "tandem/util/lean_vector.hpp"

namespace TANDEM_NS {

/// A literal: a number, a string, or braces around literals of the same kind and shape. A float or double literal
/// makes float32, an int makes int32, a long makes int64, a bool makes bool_, and text makes string. Numbers of
/// different types in the same braces are promoted: a fraction among integers makes float32, a complex number among
/// others complex64, and integers of two types the smaller type that holds both. A typed container keeps its own type.
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
    LeanVector<Literal> items_;
};

struct ConstantOptions {
  TANDEM_OP_OPTIONS;
  std::optional<DType> dtype = {};  ///< of the tensor; an integer dtype or bool_ must represent the values exactly
  ShapeArg shape = {};              ///< filled with one value, or with as many values as it has elements (row-major)
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
// The elements of nested containers, in row-major order.
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
    while (shape.rank() < Row::depth) shape.push_back(0);
    shape.insert(0, static_cast<i64>(rows.size()));
  }
};

/// Copies count elements into a tensor of the requested shape, or [count] without one.
TANDEM_API Tensor constant_from(DType dtype, const void* data, std::size_t count, const ConstantOptions& options);
}  // namespace detail

/// Creates a tensor with the values of a literal: constant(3), constant({{1.f, 2.f}, {3.f, 4.f}}), constant({"a",
/// "b"}).
///   returns   a tensor in host memory with the shape of the braces (rank 0 to 8) or `.shape`; the dtype follows
///             from the literal or is `.dtype`
///   throws    errors::InvalidArgumentError for ragged braces (naming the position), text among numbers, bools among
///             numbers or int64 among uint64 without `.dtype` (which says what they become; true is 1), a number that
///             `.dtype` cannot represent (300 in uint8, 1.5 in int32, 2 in bool_; cast converts those),
///             or a `.shape` whose size is not the number of values (unless there is only one)
///   gradient  none
TANDEM_API Tensor constant(const Literal& value, ConstantOptions options = {});
/// Creates a tensor with the elements of a vector, array or span. The dtype is the container's element type or
/// `.dtype`, which must represent the values as for literals. The shape is [n] or `.shape`.
template <detail::TypedContainer C>
Tensor constant(const C& values, ConstantOptions options = {}) {
  return detail::constant_from(dtype_of<typename C::value_type>(), values.data(), values.size(), options);
}
/// Creates a tensor from nested containers, such as {{1, 2}, {3, 4}} in a vector of vectors. All rows at one depth
/// must have the same size.
template <detail::NestedContainer C>
Tensor constant(const C& rows, ConstantOptions options = {}) {
  const detail::Flattened<C> flat(rows);
  if (!options.shape.get()) options.shape = flat.shape;
  return constant(flat.elements, options);
}
template <std::same_as<std::vector<bool>> C>  // a template so that {1, 0} does not convert to a vector
Tensor constant(const C& values, ConstantOptions options = {}) {
  const std::vector<unsigned char> bytes(values.begin(), values.end());
  return detail::constant_from(DType::bool_, bytes.data(), bytes.size(), options);
}
/// As above, with the dtype as a positional argument: constant({1, 2}, float32).
template <std::same_as<DType> D>
Tensor constant(const Literal& value, D dtype, ConstantOptions options = {}) {
  return options.dtype = dtype, constant(value, options);
}
template <class C, std::same_as<DType> D>
  requires(detail::TypedContainer<C> || std::same_as<C, std::vector<bool>>)
Tensor constant(const C& values, D dtype, ConstantOptions options = {}) {
  return options.dtype = dtype, constant(values, options);
}
template <std::same_as<const char*> Text>
Tensor constant(const Literal& value, Text dtype,
                ConstantOptions = {}) = delete;  // not a name, "float32": write float32
/// Creates a tensor from shape.size() elements copied from a pointer.
template <class T>
  requires(!std::same_as<T, char>)  // "text" is a literal
Tensor constant(const T* values, const Shape& shape) {
  return detail::constant_from(dtype_of<T>(), values, static_cast<std::size_t>(shape.size()), {.shape = shape});
}

/// Converts the argument to a tensor: returns a tensor as it is, the value of a Variable, or a constant.
inline Tensor convert_to_tensor(const Tensor& x) { return x; }
inline Tensor convert_to_tensor(const Literal& value, ConstantOptions options = {}) { return constant(value, options); }
template <detail::TypedContainer C>
Tensor convert_to_tensor(const C& values, ConstantOptions options = {}) {
  return constant(values, options);
}

/// Creates a tensor that borrows memory without copying it. The memory must not change while the tensor, or anything
/// computed from it, exists. If `owner` is given, it is released together with the last handle.
template <class T>
Tensor from_blob(const T* values, const Shape& shape, Ref<Opaque> owner = {}) {
  return Tensor::borrow(values, {shape, dtype_of<T>(), {}}, std::move(owner));
}

}  // namespace TANDEM_NS
