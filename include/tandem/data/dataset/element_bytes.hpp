// Elements of data sets as bytes and back, for files of them. Part of the component tandem::data.
#pragma once
#include <cstring>
#include <string>
#include <string_view>

#include "tandem/data/dataset/element.hpp"

namespace TANDEM_NS::data::detail {

/// Appends a host tensor: dtype, rank, sizes, elements in the byte order of this machine; texts with their lengths.
///   throws  errors::InvalidArgumentError in the name of `op` for a tensor on another device
TANDEM_API void append_tensor(const char* op, const Tensor& t, std::string& to);

/// Bytes that are taken from the front.
///   throws  errors::DataLossError in the name of `op` if there are too few, or they are not what is read
class TANDEM_API ElementBytes {
 public:
  ElementBytes(const char* op, std::string_view bytes) : op_(op), bytes_(bytes) {}
  std::string_view take(u64 n);
  Tensor tensor();
  template <class N>
  N number() {
    N r;
    std::memcpy(&r, take(sizeof r).data(), sizeof r);
    return r;
  }
  /// Raises unless all bytes have been read.
  void check_end() const;
  [[noreturn]] void raise_damaged() const;

 private:
  const char* op_;
  std::string_view bytes_;
};

/// What an element's leaves are, as a text: files keep it, so that they are not read as another type.
template <class T>
std::string type_text() {
  if constexpr (is_tensor<T>) return "T";
  else if constexpr (is_text<T>) return "s";
  else if constexpr (is_number<T>) return name(dtype_of<T>());
  else if constexpr (is_array<T>)
    return std::to_string(std::tuple_size_v<T>) + "[" + type_text<typename T::value_type>() + "]";
  else if constexpr (std::is_same_v<T, std::vector<Tensor>>) return "[T]";
  else if constexpr (is_map<T>)
    return "{" + type_text<typename T::key_type>() + ":" + type_text<typename T::mapped_type>() + "}";
  else if constexpr (is_tuple<T>) return []<std::size_t... I>(std::index_sequence<I...>) {
      return "(" + ((type_text<std::tuple_element_t<I, T>>() + ",") + ... + ")");
    }
  (std::make_index_sequence<std::tuple_size_v<T>>());
  else {
    using Fields = decltype(tree::detail::fields_of(std::declval<T&>()));
    return []<std::size_t... I>(std::index_sequence<I...>) {
      return "(" + ((type_text<std::remove_cvref_t<std::tuple_element_t<I, Fields>>>() + ",") + ... + ")");
    }
    (std::make_index_sequence<std::tuple_size_v<Fields>>());
  }
}

template <class N>
void append_number(N x, std::string& to) {
  char bytes[sizeof x];
  std::memcpy(bytes, &x, sizeof x);
  to.append(bytes, sizeof x);
}

template <class T>
void append_element(const char* op, const T& x, std::string& to) {
  if constexpr (is_tensor<T>) {
    append_tensor(op, x, to);
  } else if constexpr (is_text<T>) {
    append_number(static_cast<u64>(x.size()), to);
    to += x;
  } else if constexpr (is_number<T>) {
    append_number(x, to);
  } else if constexpr (is_map<T>) {
    append_number(static_cast<u64>(x.size()), to);
    for (const auto& [key, value] : x) append_element(op, key, to), append_element(op, value, to);
  } else {
    if constexpr (std::is_same_v<T, std::vector<Tensor>>) append_number(static_cast<u64>(x.size()), to);
    tree::detail::each_part(x, [&](const auto& part) { append_element(op, part, to); });
  }
}

template <class T>
void read_element(ElementBytes& from, T& x) {
  if constexpr (is_tensor<T>) {
    x = from.tensor();
  } else if constexpr (is_text<T>) {
    x = std::string(from.take(from.number<u64>()));
  } else if constexpr (is_number<T>) {
    x = from.number<T>();
  } else if constexpr (is_map<T>) {
    x.clear();
    for (u64 n = from.number<u64>(); n > 0; --n) {
      typename T::key_type key{};
      read_element(from, key);
      read_element(from, x[key]);
    }
  } else {
    if constexpr (std::is_same_v<T, std::vector<Tensor>>) {
      x.clear();
      for (u64 n = from.number<u64>(); n > 0; --n) x.push_back(from.tensor());
    } else {
      tree::detail::each_part(x, [&](auto& part) { read_element(from, part); });
    }
  }
}

}  // namespace TANDEM_NS::data::detail
