// What functions take and return: tensors in structs, tuples, vectors and maps beside plain values. Here they are taken
// apart into a list of tensors and a key, and put together again.
#pragma once
#include <array>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "tandem/core/indexed_slices.hpp"
#include "tandem/core/variable.hpp"

namespace TANDEM_NS::tree {

/// The tensors of some arguments in order, and what else decides which trace serves them.
struct Flat {
  Small<const Tensor*, 8> tensors;
  Small<unsigned char, 64> key;
  std::vector<std::string>* words = nullptr;  // set: each leaf as text, for the trace log

  void add(const void* bytes, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) key.push(static_cast<const unsigned char*>(bytes)[i]);
  }
  void say(std::string word) {
    if (words) words->push_back(std::move(word));
  }
};

namespace detail {

template <class T, template <class...> class C>
inline constexpr bool is_a = false;
template <template <class...> class C, class... A>
inline constexpr bool is_a<C<A...>, C> = true;
template <class T>
inline constexpr bool is_array = false;
template <class T, std::size_t N>
inline constexpr bool is_array<std::array<T, N>> = true;
template <class T>
inline constexpr bool is_text = std::is_same_v<T, std::string> || std::is_same_v<T, const char*>;
template <class T>
inline constexpr bool is_number = std::is_arithmetic_v<T> || std::is_enum_v<T>;

struct Any {
  template <class T>
  operator T() const;
};
template <class T, std::size_t... I>
constexpr bool takes(std::index_sequence<I...>) {
  return requires { T{(static_cast<void>(I), Any())...}; };
}
/// How many fields an aggregate has (at most 12).
template <class T, std::size_t N = 12>
constexpr std::size_t field_count() {
  if constexpr (N == 0) return 0;
  else if constexpr (takes<T>(std::make_index_sequence<N>())) return N;
  else return field_count<T, N - 1>();
}
template <class T, class F>
void each_field(T& x, const F& f) {
  constexpr std::size_t n = field_count<std::remove_const_t<T>>();
  const auto all = [&](auto&... field) { (f(field), ...); };
#define TANDEM_FIELDS(count, ...) \
  if constexpr (n == count) {     \
    auto& [__VA_ARGS__] = x;      \
    all(__VA_ARGS__);             \
  }
  TANDEM_FIELDS(1, a)
  TANDEM_FIELDS(2, a, b)
  TANDEM_FIELDS(3, a, b, c)
  TANDEM_FIELDS(4, a, b, c, d)
  TANDEM_FIELDS(5, a, b, c, d, e)
  TANDEM_FIELDS(6, a, b, c, d, e, g)
  TANDEM_FIELDS(7, a, b, c, d, e, g, h)
  TANDEM_FIELDS(8, a, b, c, d, e, g, h, i)
  TANDEM_FIELDS(9, a, b, c, d, e, g, h, i, j)
  TANDEM_FIELDS(10, a, b, c, d, e, g, h, i, j, k)
  TANDEM_FIELDS(11, a, b, c, d, e, g, h, i, j, k, l)
  TANDEM_FIELDS(12, a, b, c, d, e, g, h, i, j, k, l, m)
#undef TANDEM_FIELDS
}

/// Calls f on each part of a container or struct, in order; const or not. A class names its own parts.
template <class T, class F>
void each_part(T& x, const F& f) {
  using V = std::remove_const_t<T>;
  if constexpr (requires { x.each_part(f); }) {
    x.each_part(f);
  } else if constexpr (is_a<V, std::vector> || is_array<V>) {
    for (auto& part : x) f(part);
  } else if constexpr (is_a<V, std::map>) {
    for (auto& [name, part] : x) f(part);
  } else if constexpr (is_a<V, std::tuple> || is_a<V, std::pair>) {
    std::apply([&](auto&... part) { (f(part), ...); }, x);
  } else if constexpr (is_a<V, std::optional>) {
    if (x) f(*x);
  } else {
    static_assert(std::is_aggregate_v<V>,
                  "a traced function takes and returns tensors, Variables, numbers, texts, enums, and vectors, maps, "
                  "tuples, optionals and plain structs (up to 12 fields) of them");
    each_field(x, f);
  }
}

}  // namespace detail

template <class T>
void flatten(const T& x, Flat& to) {
  if constexpr (std::is_same_v<T, Tensor>) {
    to.key.push(static_cast<unsigned char>(x.is_set() ? 't' : 'u'));
    if (x.is_set()) to.tensors.push(&x);
    to.say(x.is_set() ? to_string(x.spec()) : "unset");
  } else if constexpr (std::is_same_v<T, Variable>) {
    const void* const address = VariableAccess::address(x);
    to.add(&address, sizeof address);
    to.say(x.is_set() ? "variable '" + x.name() + "'" : "empty variable");
  } else if constexpr (detail::is_number<T>) {
    to.add(&x, sizeof x);
    if constexpr (std::is_enum_v<T>) to.say(std::to_string(static_cast<i64>(x)));
    else to.say(std::to_string(x));
  } else if constexpr (detail::is_text<T>) {
    const std::string_view text = x;
    const std::size_t size = text.size();
    to.add(&size, sizeof size);
    to.add(text.data(), size);
    to.say('"' + std::string(text) + '"');
  } else {
    if constexpr (detail::is_a<T, std::vector> || detail::is_a<T, std::map>) {
      const std::size_t size = x.size();
      to.add(&size, sizeof size);
    } else if constexpr (detail::is_a<T, std::optional>) {
      to.key.push(static_cast<unsigned char>(x.has_value()));
    }
    if constexpr (detail::is_a<T, std::map>)
      for (const auto& [name, part] : x) flatten(name, to);
    detail::each_part(x, [&](const auto& part) { flatten(part, to); });
  }
}
template <class T>
void flatten(const T* x, Flat& to) = delete;  // a pointer's target may change unseen
inline void flatten(const char* x, Flat& to) { flatten<std::string>(x, to); }

/// Replaces the tensors of x, in flatten's order.
template <class T>
void refill(T& x, const Tensor*& next) {
  if constexpr (std::is_const_v<T>) {
    return;  // what a class shows and does not let go of
  } else if constexpr (std::is_same_v<T, Tensor>) {
    if (x.is_set()) x = *next++;
  } else if constexpr (!std::is_same_v<T, Variable> && !detail::is_number<T> && !detail::is_text<T>) {
    detail::each_part(x, [&](auto& part) { refill(part, next); });
  }
}

}  // namespace TANDEM_NS::tree
