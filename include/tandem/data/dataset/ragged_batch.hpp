// What a ragged batch of elements is, and how it is put together. Behind data/dataset.hpp. Part of the component
// tandem::data.
#pragma once
#include <array>
#include <tuple>
#include <utility>

#include "tandem/data/dataset/element.hpp"
#include "tandem/data/ragged.hpp"

namespace TANDEM_NS::data::detail {

// `ok` is false where there is none.
template <class T>
struct RaggedOf {
  static constexpr bool ok = false;
  using type = void;
};
template <>
struct RaggedOf<Tensor> {
  static constexpr bool ok = true;
  using type = Ragged;
};
template <class T>
  requires(is_number<T> || is_text<T>)
struct RaggedOf<T> {
  static constexpr bool ok = true;
  using type = Tensor;
};
template <class T, std::size_t N>
struct RaggedOf<std::array<T, N>> {
  static constexpr bool ok = RaggedOf<T>::ok;
  using type = std::array<typename RaggedOf<T>::type, N>;
};
template <class... T>
struct RaggedOf<std::tuple<T...>> {
  static constexpr bool ok = (RaggedOf<T>::ok && ...);
  using type = std::tuple<typename RaggedOf<T>::type...>;
};
template <class A, class B>
struct RaggedOf<std::pair<A, B>> {
  static constexpr bool ok = RaggedOf<A>::ok && RaggedOf<B>::ok;
  using type = std::pair<typename RaggedOf<A>::type, typename RaggedOf<B>::type>;
};

/// Puts n elements together; get(i) is element i, by reference.
template <class T, class Get>
typename RaggedOf<T>::type ragged_parts(i64 n, const Get& get) {
  if constexpr (is_tensor<T>) {
    InlinedVector<const Tensor*, 128, memory::Blocks> rows;
    for (i64 i = 0; i < n; ++i) rows.push_back(&get(i));
    return ragged_rows("ragged_batch", {rows.data(), rows.size()});
  } else if constexpr (is_several<T>) {
    return [&]<std::size_t... K>(std::index_sequence<K...>) {
      return typename RaggedOf<T>::type{ragged_parts<std::tuple_element_t<K, T>>(
          n, [&](i64 i) -> const auto& { return std::get<K>(get(i)); })...};
    }
    (std::make_index_sequence<std::tuple_size_v<T>>());
  } else {
    return stack_elements<T>(plain_batch, n, get);
  }
}
template <class T>
typename RaggedOf<T>::type ragged_elements(const Elements<T>& elements) {
  return ragged_parts<T>(static_cast<i64>(elements.size()),
                         [&](i64 i) -> const T& { return elements[static_cast<std::size_t>(i)]; });
}

}  // namespace TANDEM_NS::data::detail
