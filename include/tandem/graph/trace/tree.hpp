// What functions take and return: tensors in structs, tuples, vectors and maps, mixed with plain values. Flattens
// them into a list of tensors and a key, and rebuilds them.
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
#include "tandem/graph/lazy.hpp"

namespace TANDEM_NS::tree {

using Key = InlinedVector<unsigned char, 64, memory::Blocks>;

/// The tensors of some arguments in order, and the key that selects their trace.
struct Flat {
  InlinedVector<const Tensor*, 8, memory::Blocks> tensors;
  Key key;
  std::vector<std::string>* words = nullptr;  // if set: receives each leaf as text, for the trace log

  void add(const void* bytes, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) key.push_back(static_cast<const unsigned char*>(bytes)[i]);
  }
  /// word() is called only for the log: it is more expensive than everything else here.
  template <class Word>
  void say(const Word& word) {
    if (words) [[unlikely]]
      words->push_back(word());
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
template <std::size_t N>
inline constexpr bool is_array<Gradients<N>> = true;
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
/// The number of fields of an aggregate (at most 12).
template <class T, std::size_t N = 12>
constexpr std::size_t field_count() {
  if constexpr (N == 0) return 0;
  else if constexpr (takes<T>(std::make_index_sequence<N>())) return N;
  else return field_count<T, N - 1>();
}
/// The fields of an aggregate, as a tuple of references.
template <class T>
auto fields_of(T& x) {
  using V = std::remove_const_t<T>;
  static_assert(!takes<V>(std::make_index_sequence<13>()),
                "a struct has more than 12 fields: put some of them into a struct or std::tuple of their own");
  constexpr std::size_t n = field_count<V>();
  if constexpr (n == 0) return std::tuple<>();
#define TANDEM_FIELDS(count, ...) \
  if constexpr (n == count) {     \
    auto& [__VA_ARGS__] = x;      \
    return std::tie(__VA_ARGS__); \
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

/// Calls f on each element of a container or field of a struct, in order; const or not. A class enumerates its own
/// parts.
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
    std::apply([&](auto&... field) { (f(field), ...); }, fields_of(x));
  }
}

}  // namespace detail

template <class T>
void flatten(const T& x, Flat& to) {
  if constexpr (std::is_same_v<T, Tensor>) {
    to.key.push_back(static_cast<unsigned char>(x.is_set() ? 't' : 'u'));
    if (x.is_set()) to.tensors.push_back(&x);
    to.say([&] { return x.is_set() ? to_string(x.spec()) : "unset"; });
  } else if constexpr (std::is_same_v<T, Variable>) {
    // Not its address: a trace that reads only a Variable's shape does not keep it, and the next one may be there.
    const u64 id = x.is_set() ? x.id() : 0;
    to.add(&id, sizeof id);
    to.say([&] { return x.is_set() ? "variable '" + x.name() + "'" : "empty variable"; });
  } else if constexpr (detail::is_number<T>) {
    to.add(&x, sizeof x);
    to.say([&] {
      if constexpr (std::is_enum_v<T>) return std::to_string(static_cast<i64>(x));
      else return std::to_string(x);
    });
  } else if constexpr (detail::is_text<T>) {
    const std::string_view text = x;
    const std::size_t size = text.size();
    to.add(&size, sizeof size);
    to.add(text.data(), size);
    to.say([&] { return '"' + std::string(text) + '"'; });
  } else {
    if constexpr (detail::is_a<T, std::vector> || detail::is_a<T, std::map>) {
      const std::size_t size = x.size();
      to.add(&size, sizeof size);
    } else if constexpr (detail::is_a<T, std::optional>) {
      to.key.push_back(static_cast<unsigned char>(x.has_value()));
    }
    if constexpr (detail::is_a<T, std::map>)
      for (const auto& [name, part] : x) flatten(name, to);
    detail::each_part(x, [&](const auto& part) { flatten(part, to); });
  }
}
template <class T>
void flatten(const T* x, Flat& to) = delete;  // a pointer's target may change undetected
TANDEM_LAZY inline void flatten(const char* x, Flat& to) { flatten<const char*>(x, to); }

/// Replaces the tensors of x, in flatten's order.
template <class T>
void refill(T& x, const Tensor*& next) {
  if constexpr (std::is_const_v<T>) {
    return;  // what a class exposes only as const
  } else if constexpr (std::is_same_v<T, Tensor>) {
    if (x.is_set()) x = *next++;
  } else if constexpr (!std::is_same_v<T, Variable> && !detail::is_number<T> && !detail::is_text<T>) {
    detail::each_part(x, [&](auto& part) { refill(part, next); });
  }
}

/// Makes the gradients in x dense: a call's results are tensors.
template <class T>
void make_dense(T& x) {
  if constexpr (std::is_same_v<T, Gradient>) x.make_dense();
  else if constexpr (!std::is_const_v<T> && !std::is_same_v<T, Tensor> && !std::is_same_v<T, Variable> &&
                     !detail::is_number<T> && !detail::is_text<T> && !std::is_same_v<T, std::vector<bool>>)
    detail::each_part(x, [](auto& part) { make_dense(part); });
}

namespace detail {
struct Ignore {
  template <class T>
  void operator()(T&) const;
};
/// Whether an object of this type can be created empty and then filled.
template <class T>
constexpr bool is_fillable() {
  using V = std::remove_cvref_t<T>;
  if constexpr (std::is_const_v<std::remove_reference_t<T>> || !std::is_default_constructible_v<V>) {
    return false;
  } else if constexpr (is_a<V, std::vector> || is_array<V> || is_a<V, std::optional>) {
    return is_fillable<typename V::value_type>();
  } else if constexpr (is_a<V, std::map>) {
    return is_fillable<typename V::mapped_type>();
  } else if constexpr (is_a<V, std::tuple> || is_a<V, std::pair>) {
    return []<class... P>(const std::tuple<P...>*) {
      return (is_fillable<P>() && ...);
    }(static_cast<decltype(std::tuple_cat(std::declval<V&>()))*>(nullptr));
  } else if constexpr (std::is_same_v<V, Tensor> || std::is_same_v<V, Variable> || is_number<V> || is_text<V> ||
                       requires(V & x) { x.each_part(Ignore()); }) {
    return std::is_copy_assignable_v<V>;
  } else {
    return []<class... P>(const std::tuple<P...>*) {
      return (is_fillable<P>() && ...);
    }(static_cast<decltype(fields_of(std::declval<V&>()))*>(nullptr));
  }
}
template <class T>
bool have_equal_keys(const T& a, const T& b) {
  if (a.size() != b.size()) return false;
  for (auto x = a.begin(), y = b.begin(); x != a.end(); ++x, ++y)
    if (!(x->first == y->first)) return false;
  return true;
}
}  // namespace detail

/// Makes x a copy of `like`, with its tensors moved from a list, in flatten's order. x keeps its storage: no
/// allocation if x was filled with the same structure before.
template <class T>
void fill(T& x, const T& like, Tensor*& next) {
  const auto each = [&](auto&& parts, auto&& like_parts) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (fill(std::get<I>(parts), std::as_const(std::get<I>(like_parts)), next), ...);
    }
    (std::make_index_sequence<std::tuple_size_v<std::remove_cvref_t<decltype(parts)>>>());
  };
  if constexpr (std::is_same_v<T, Tensor>) {
    if (like.is_set()) x = std::move(*next++);
    else x = like;
  } else if constexpr (std::is_same_v<T, Variable> || detail::is_number<T> || detail::is_text<T> ||
                       std::is_same_v<T, std::vector<bool>>) {
    x = like;
  } else if constexpr (detail::is_a<T, std::vector> || detail::is_array<T>) {
    if constexpr (detail::is_a<T, std::vector>) x.resize(like.size());
    for (std::size_t i = 0; i < like.size(); ++i) fill(x[i], like[i], next);
  } else if constexpr (detail::is_a<T, std::map>) {
    if (!detail::have_equal_keys(x, like)) x = like;
    auto at = x.begin();
    for (const auto& [name, part] : like) fill((at++)->second, part, next);
  } else if constexpr (detail::is_a<T, std::optional>) {
    if (!like) return x.reset();
    fill(x ? *x : x.emplace(), *like, next);
  } else if constexpr (detail::is_a<T, std::tuple> || detail::is_a<T, std::pair>) {
    each(x, like);
  } else if constexpr (requires { x.each_part(detail::Ignore()); }) {
    x = like;
    const Tensor* at = next;
    refill(x, at);
    next += at - next;
  } else {
    each(detail::fields_of(x), detail::fields_of(like));
  }
}

}  // namespace TANDEM_NS::tree
