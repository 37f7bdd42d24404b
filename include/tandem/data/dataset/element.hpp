// Elements of data sets: trees of tensors, numbers and texts; what a batch of them is; stacking and padding them. Part
// of the component tandem::data. Not here: the trees of traced functions (graph/trace/tree.hpp), whose walk over parts
// is used here.
#pragma once
#include <array>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "tandem/base/span.hpp"
#include "tandem/core/tensor.hpp"
#include "tandem/graph/trace/tree.hpp"

namespace TANDEM_NS::data {

namespace detail {

template <class T>
inline constexpr bool is_tensor = std::is_same_v<T, Tensor>;
template <class T>
inline constexpr bool is_text = std::is_same_v<T, std::string>;
/// Numbers that a dtype holds.
template <class T>
inline constexpr bool is_number = std::is_arithmetic_v<T>;
template <class T>
inline constexpr bool is_map = tree::detail::is_a<T, std::map>;
template <class T>
inline constexpr bool is_tuple = tree::detail::is_a<T, std::tuple> || tree::detail::is_a<T, std::pair>;
template <class T>
inline constexpr bool is_array = false;
template <class T, std::size_t N>
inline constexpr bool is_array<std::array<T, N>> = true;
/// Elements that a function of several parameters takes apart: tuples, pairs and arrays.
template <class T>
inline constexpr bool is_several = is_tuple<T> || is_array<T>;

// What a batch of elements of type T is; `ok` is false where there is none.
template <class T>
struct BatchOf {
  static constexpr bool ok = false;
  using type = void;
};
template <class T>
  requires(is_tensor<T> || is_number<T> || is_text<T>)
struct BatchOf<T> {
  static constexpr bool ok = true;
  using type = Tensor;
};
template <class T, std::size_t N>
struct BatchOf<std::array<T, N>> {
  static constexpr bool ok = BatchOf<T>::ok;
  using type = std::array<typename BatchOf<T>::type, N>;
};
template <class... T>
struct BatchOf<std::tuple<T...>> {
  static constexpr bool ok = (BatchOf<T>::ok && ...);
  using type = std::tuple<typename BatchOf<T>::type...>;
};
template <class A, class B>
struct BatchOf<std::pair<A, B>> {
  static constexpr bool ok = BatchOf<A>::ok && BatchOf<B>::ok;
  using type = std::pair<typename BatchOf<A>::type, typename BatchOf<B>::type>;
};
template <>
struct BatchOf<std::vector<Tensor>> {
  static constexpr bool ok = true;
  using type = std::vector<Tensor>;
};
template <class K, class T>
struct BatchOf<std::map<K, T>> {
  static constexpr bool ok = BatchOf<T>::ok;
  using type = std::map<K, typename BatchOf<T>::type>;
};
template <class T>
  requires(std::is_aggregate_v<T>&& std::is_class_v<T> && !is_array<T> && tree::detail::field_count<T>() > 0)
struct BatchOf<T> {
  template <class Field>
  static constexpr bool same =
      std::is_same_v<typename BatchOf<std::remove_cvref_t<Field>>::type, std::remove_cvref_t<Field>>;
  template <class... Field>
  static constexpr bool all(std::tuple<Field&...>*) {
    return (same<Field> && ...);
  }
  static constexpr bool ok = all(static_cast<decltype(tree::detail::fields_of(std::declval<T&>()))*>(nullptr));
  using type = T;
};

}  // namespace detail

/// The types that batch() accepts: Tensor, numbers, std::string, and arrays, tuples, pairs and maps of them; vectors of
/// tensors; structs whose fields are tensors (or such structs).
template <class T>
concept Batchable = detail::BatchOf<T>::ok;

/// What a batch of elements of type T is: the same tree, with tensors that have one axis more, in front; numbers and
/// texts become tensors of rank 1.
template <Batchable T>
using Batched = typename detail::BatchOf<T>::type;

namespace detail {

/// Stacks tensors of equal spec along a new leading axis.
///   throws  errors::InvalidArgumentError in the name of `op` for an element of another spec, saying which
TANDEM_API Tensor stack_rows(const char* op, Span<const Tensor* const> rows);
/// Stacks tensors of equal rank and dtype along a new leading axis, each padded at its ends to `sizes` (a negative
/// size: the largest of the rows) with `value`.
TANDEM_API Tensor stack_padded(const char* op, Span<const Tensor* const> rows, const std::vector<i64>& sizes,
                               double value);
TANDEM_API Tensor stack_texts(i64 n, const std::string& (*at)(const void* context, i64 i), const void* context);
/// Row i of a tensor, on a CPU without the others' memory.
TANDEM_API Tensor own_row(const Tensor& rows, i64 i);
/// The rows [first, first + n) likewise; all rows are the tensor itself.
TANDEM_API Tensor own_rows(const Tensor& rows, i64 first, i64 n);
/// The rows of all pieces, one after another.
///   throws  errors::InvalidArgumentError in the name of `op` if the rows of two pieces differ in shape or dtype
TANDEM_API Tensor join_rows(const char* op, const std::vector<Tensor>& pieces);
/// The memory that a tensor refers to, in bytes.
TANDEM_API i64 bytes_of_tensor(const Tensor& t);
[[noreturn]] TANDEM_API void raise_keys(const char* op, i64 element);
[[noreturn]] TANDEM_API void raise_lengths(const char* op, i64 element, std::size_t first, std::size_t other);

/// How the tensors of a batch are put together, and in which op's name errors are raised.
struct Stacking {
  const char* op;
  Tensor (*tensors)(const Stacking&, Span<const Tensor* const> rows);
};
inline Tensor stack_equal(const Stacking& s, Span<const Tensor* const> rows) { return stack_rows(s.op, rows); }
inline constexpr Stacking plain_batch{"batch", &stack_equal};

/// Stacks n elements; get(i) is element i, by reference.
template <class T, class Get>
Batched<T> stack_elements(const Stacking& how, i64 n, const Get& get) {
  if constexpr (is_tensor<T>) {
    InlinedVector<const Tensor*, 128, memory::Blocks> rows;
    for (i64 i = 0; i < n; ++i) rows.push_back(&get(i));
    return how.tensors(how, {rows.data(), rows.size()});
  } else if constexpr (is_number<T>) {
    const Tensor r = Tensor::allocate({Shape{n}, dtype_of<T>(), {}});
    for (i64 i = 0; i < n; ++i) static_cast<T*>(r.raw())[i] = get(i);
    return r;
  } else if constexpr (is_text<T>) {
    return stack_texts(
        n, [](const void* c, i64 i) -> const std::string& { return (*static_cast<const Get*>(c))(i); }, &get);
  } else if constexpr (is_array<T>) {
    Batched<T> r;
    for (std::size_t k = 0; k < r.size(); ++k)
      r[k] = stack_elements<typename T::value_type>(
          how, n, [&](i64 i) -> const auto& { return get(i)[k]; });
    return r;
  } else if constexpr (is_tuple<T>) {
    return [&]<std::size_t... K>(std::index_sequence<K...>) {
      return Batched<T>{stack_elements<std::tuple_element_t<K, T>>(
          how, n, [&](i64 i) -> const auto& { return std::get<K>(get(i)); })...};
    }
    (std::make_index_sequence<std::tuple_size_v<T>>());
  } else if constexpr (std::is_same_v<T, std::vector<Tensor>>) {
    std::vector<Tensor> r;
    for (i64 i = 1; i < n; ++i)
      if (get(i).size() != get(0).size()) raise_lengths(how.op, i, get(0).size(), get(i).size());
    for (std::size_t k = 0; n > 0 && k < get(0).size(); ++k)
      r.push_back(stack_elements<Tensor>(
          how, n, [&](i64 i) -> const auto& { return get(i)[k]; }));
    return r;
  } else if constexpr (is_map<T>) {
    Batched<T> r;
    for (i64 i = 1; i < n; ++i)
      if (get(i).size() != get(0).size()) raise_keys(how.op, i);
    if (n > 0)
      for (const auto& part : get(0))
        r.emplace(part.first, stack_elements<typename T::mapped_type>(
                                  how, n, [&](i64 i) -> const auto& {
                                    const auto at = get(i).find(part.first);
                                    if (at == get(i).end()) raise_keys(how.op, i);
                                    return at->second;
                                  }));
    return r;
  } else {
    using Fields = decltype(tree::detail::fields_of(std::declval<const T&>()));
    return [&]<std::size_t... K>(std::index_sequence<K...>) {
      return T{stack_elements<std::remove_cvref_t<std::tuple_element_t<K, Fields>>>(
          how, n, [&](i64 i) -> const auto& { return std::get<K>(tree::detail::fields_of(get(i))); })...};
    }
    (std::make_index_sequence<std::tuple_size_v<Fields>>());
  }
}

/// Elements that a batch is made of. Not a vector: one of bools has no elements to refer to.
template <class T>
using Elements = std::deque<T>;
template <class T>
Batched<T> stacked(const Elements<T>& elements) {
  return stack_elements<T>(plain_batch, static_cast<i64>(elements.size()),
                           [&](i64 i) -> const T& { return elements[static_cast<std::size_t>(i)]; });
}

/// Calls f on each tensor of an element; numbers and texts are passed over.
template <class T, class F>
void each_tensor(T& x, const F& f) {
  using V = std::remove_const_t<T>;
  if constexpr (is_tensor<V>) f(x);
  else if constexpr (BatchOf<V>::ok && !is_number<V> && !is_text<V>)
    tree::detail::each_part(x, [&](auto& part) { each_tensor(part, f); });
}

template <class T>
inline constexpr bool is_struct = std::is_aggregate_v<T>&& std::is_class_v<T> && !is_array<T>;

/// The memory of an element, as far as it is known: its own, and that of tensors, texts, and containers and structs of
/// these.
template <class T>
i64 bytes_of(const T& x) {
  i64 r = static_cast<i64>(sizeof(T));
  if constexpr (is_tensor<T>) {
    r += bytes_of_tensor(x);
  } else if constexpr (is_text<T>) {
    r += static_cast<i64>(x.size());
  } else if constexpr (tree::detail::is_a<T, std::vector>) {
    if constexpr (is_number<typename T::value_type>) r += static_cast<i64>(x.size() * sizeof(typename T::value_type));
    else
      for (const auto& part : x) r += bytes_of(part);
  } else if constexpr (is_several<T> || is_map<T> || is_struct<T>) {
    tree::detail::each_part(x, [&](const auto& part) { r += bytes_of(part); });
  }
  return r;
}

/// Calls f with an element, or with its parts if it is a tuple, pair or array that f does not take as it is.
template <class F, class T>
decltype(auto) call(F& f, T&& element) {
  if constexpr (std::is_invocable_v<F&, T&&>) return f(std::forward<T>(element));
  else return std::apply(f, std::forward<T>(element));
}
template <class F, class T>
using Result = std::decay_t<decltype(call(std::declval<F&>(), std::declval<T>()))>;

/// A function of an element, which is passed as In, of whatever type it is: stages that have one are compiled once for
/// each type of elements, not for each function.
template <class R, class In>
class ElementFunction {
 public:
  template <class F>
  ElementFunction(F f) : body_(std::make_shared<const BodyOf<F>>(std::move(f))) {}
  R operator()(In element) const { return body_->apply(static_cast<In>(element)); }

 private:
  struct Body {
    virtual R apply(In element) const = 0;

   protected:
    ~Body() = default;
  };
  template <class F>
  struct BodyOf final : Body {
    explicit BodyOf(F function) : f(std::move(function)) {}
    R apply(In element) const override { return call(f, static_cast<In>(element)); }
    F f;
  };

  std::shared_ptr<const Body> body_;
};

}  // namespace detail
}  // namespace TANDEM_NS::data
