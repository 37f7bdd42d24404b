// Attrs: the attributes of one op call, a plain struct, type-erased. Stored inline up to 80 bytes (a Shape and a
// little more), behind a reference-counted pointer above that. Printing, hashing, equality, saving and loading are
// derived from the struct's field list.
//
//   struct ReduceAttrs {
//     Axes axis;
//     bool keepdims;
//     TANDEM_ATTRS(ReduceAttrs, axis, keepdims);
//   };
#pragma once
#include <atomic>
#include <bit>
#include <cstring>
#include <new>
#include <string>
#include <type_traits>
#include <utility>

#include "tandem/base/axes.hpp"
#include "tandem/base/spec.hpp"
#include "tandem/util/for_each.hpp"
#include "tandem/util/inlined_vector.hpp"
#include "tandem/util/ref.hpp"

namespace TANDEM_NS {

class Attrs;

/// A list of integers of any length as an attribute; a Shape has up to max_rank.
using IntList = InlinedVector<i64, 6>;
/// A text as the last attribute of a struct, which files have only if it is not empty: a field that an op gets after
/// files with it have been saved.
struct OptionalText {
  std::string text;
};

template <class A, class T>
struct Field {
  const char* name;
  T A::*member;
};
template <class A, class T>
constexpr Field<A, T> field(const char* name, T A::*member) {
  return {name, member};
}

// All fields of a struct, in order. Not a std::tuple: its constructors cost more compile time than the ops that use
// it.
template <class... F>
struct FieldList {};
template <class First, class... Rest>
struct FieldList<First, Rest...> {
  First first;
  FieldList<Rest...> rest;
};
constexpr FieldList<> field_list() { return {}; }
template <class First, class... Rest>
constexpr FieldList<First, Rest...> field_list(First first, Rest... rest) {
  return {first, field_list(rest...)};
}

/// TANDEM_ATTRS(Struct, a, b, ...); in a struct lists its fields, all of them, in the order in which they are saved.
#define TANDEM_ATTRS(Struct, ...) \
  static constexpr auto fields = ::tandem::field_list(TANDEM_FOR_EACH_FIELD(TANDEM_FIELD, Struct, __VA_ARGS__))
#define TANDEM_FIELD(Struct, name) ::tandem::field(#name, &Struct::name)

/// Receives the fields of an attribute struct one by one. Printers, hashers and savers implement it.
struct AttrVisitor {
  virtual void number(const char* name, i64 value) = 0;
  virtual void real(const char* name, double value) = 0;
  virtual void text(const char* name, const std::string& value) = 0;
  virtual void numbers(const char* name, const i64* values, int count) = 0;
  virtual void opaque(const char* name, const Opaque* value) = 0;
  /// An IntList.
  virtual void list(const char* name, const i64* values, int count) { numbers(name, values, count); }
  /// An OptionalText.
  virtual void optional_text(const char* name, const std::string& value) { text(name, value); }

 protected:
  ~AttrVisitor() = default;
};

/// The inverse of AttrVisitor: provides the fields of an attribute struct one by one, in the struct's order. Loaders
/// implement it.
struct AttrReader {
  virtual i64 number(const char* name) = 0;
  virtual double real(const char* name) = 0;
  virtual std::string text(const char* name) = 0;
  virtual std::string optional_text(const char* name) { return text(name); }
  /// Sets up to max_rank values and returns how many, or -1 for 'not given'.
  virtual int numbers(const char* name, i64* values) = 0;
  virtual IntList list(const char* name) = 0;
  virtual Ref<Opaque> opaque(const char* name) = 0;
  /// Raises: the value that was read is not valid for this field.
  [[noreturn]] virtual void misfit(const char* name) = 0;

 protected:
  ~AttrReader() = default;
};

/// The number of enumerators of an enum used as an attribute, counted from 0; specialized next to the enum.
template <class E>
inline constexpr int enumerators = 0;
template <>
inline constexpr int enumerators<DType> = dtype_count;

namespace detail {

template <class T>
void visit_field(AttrVisitor& v, const char* name, const T& x) {
  if constexpr (std::is_floating_point_v<T>) {
    TANDEM_VIRTUAL(v, AttrVisitor::real)(name, x);
  } else if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) {
    TANDEM_VIRTUAL(v, AttrVisitor::number)(name, static_cast<i64>(x));
  } else if constexpr (std::is_same_v<T, std::string>) {
    TANDEM_VIRTUAL(v, AttrVisitor::text)(name, x);
  } else if constexpr (std::is_same_v<T, OptionalText>) {
    TANDEM_VIRTUAL(v, AttrVisitor::optional_text)(name, x.text);
  } else if constexpr (std::is_same_v<T, Shape>) {
    TANDEM_VIRTUAL(v, AttrVisitor::numbers)(name, x.begin(), x.rank());
  } else if constexpr (std::is_same_v<T, IntList>) {
    TANDEM_VIRTUAL(v, AttrVisitor::list)(name, x.begin(), static_cast<int>(x.size()));
  } else if constexpr (std::is_same_v<T, Device>) {
    TANDEM_VIRTUAL(v, AttrVisitor::number)(name, x.kind * 256 + x.index);
  } else if constexpr (std::is_same_v<T, Axes>) {
    i64 a[max_rank];
    for (int i = 0; i < x.size(); ++i) a[i] = x[i];
    TANDEM_VIRTUAL(v, AttrVisitor::numbers)(name, a, x.given() ? x.size() : -1);
  } else {
    TANDEM_VIRTUAL(v, AttrVisitor::opaque)(name, x.get());  // Ref<Opaque>, or a Ref to a class derived from it
  }
}

TANDEM_API i64 read_number(AttrReader& r, const char* name, i64 low, i64 high);
TANDEM_API void read_field(AttrReader& r, const char* name, Shape& to);
TANDEM_API void read_field(AttrReader& r, const char* name, Axes& to);
TANDEM_API void read_field(AttrReader& r, const char* name, Device& to);
inline void read_field(AttrReader& r, const char* name, std::string& to) {
  to = TANDEM_VIRTUAL(r, AttrReader::text)(name);
}
inline void read_field(AttrReader& r, const char* name, OptionalText& to) {
  to.text = TANDEM_VIRTUAL(r, AttrReader::optional_text)(name);
}
inline void read_field(AttrReader& r, const char* name, IntList& to) { to = TANDEM_VIRTUAL(r, AttrReader::list)(name); }
template <class T>
void read_field(AttrReader& r, const char* name, T& to) {
  if constexpr (std::is_floating_point_v<T>) {
    to = static_cast<T>(TANDEM_VIRTUAL(r, AttrReader::real)(name));
  } else if constexpr (std::is_enum_v<T>) {
    static_assert(enumerators<T> > 0, "specialise tandem::enumerators for this enum");
    to = static_cast<T>(read_number(r, name, 0, enumerators<T> - 1));
  } else if constexpr (std::is_integral_v<T>) {
    const i64 value = TANDEM_VIRTUAL(r, AttrReader::number)(name);
    to = static_cast<T>(value);
    if (static_cast<i64>(to) != value) TANDEM_VIRTUAL(r, AttrReader::misfit)(name);
  } else {
    const Ref<Opaque> value = TANDEM_VIRTUAL(r, AttrReader::opaque)(name);
    to = T(dynamic_cast<decltype(to.get())>(value.get()));
    if (!to) TANDEM_VIRTUAL(r, AttrReader::misfit)(name);
  }
}

template <class A>
void visit_fields(AttrVisitor&, const A&, const FieldList<>&) {}
template <class A, class First, class... Rest>
void visit_fields(AttrVisitor& v, const A& attrs, const FieldList<First, Rest...>& list) {
  visit_field(v, list.first.name, attrs.*list.first.member);
  visit_fields(v, attrs, list.rest);
}
template <class A>
void read_fields(AttrReader&, A&, const FieldList<>&) {}
template <class A, class First, class... Rest>
void read_fields(AttrReader& r, A& attrs, const FieldList<First, Rest...>& list) {
  read_field(r, list.first.name, attrs.*list.first.member);
  read_fields(r, attrs, list.rest);
}

// What Attrs needs to know about the struct that it holds.
struct AttrType {
  std::size_t size;
  void (*copy)(void* to, const void* from);
  void (*move)(void* to, void* from);  // null: the bytes are copied
  void (*destroy)(void*);
  void (*visit)(const void*, AttrVisitor&);
  Attrs (*read)(AttrReader&);
};

template <class A>
Attrs read_attrs(AttrReader& r);

template <class A>
constexpr auto mover_of() -> void (*)(void*, void*) {
  static_assert(std::is_nothrow_move_constructible_v<A>);
  if constexpr (std::is_trivially_copyable_v<A>) return nullptr;
  else return [](void* to, void* from) { ::new (to) A(std::move(*static_cast<A*>(from))); };
}
template <class A>
inline constexpr AttrType attr_type{
    sizeof(A),
    [](void* to, const void* from) { ::new (to) A(*static_cast<const A*>(from)); },
    mover_of<A>(),
    [](void* p) { static_cast<A*>(p)->~A(); },
    [](const void* p, AttrVisitor& v) { visit_fields(v, *static_cast<const A*>(p), A::fields); },
    &read_attrs<A>};

struct AttrBlock {  // followed by the struct
  std::atomic<std::uint32_t> refs;
  alignas(16) unsigned char data[1];
};
struct NewBlock {  // released unless its owner takes it
  explicit NewBlock(std::size_t bytes) : block(static_cast<AttrBlock*>(::operator new(sizeof(AttrBlock) + bytes))) {
    ::new (&block->refs) std::atomic<std::uint32_t>(1);
  }
  NewBlock(const NewBlock&) = delete;
  ~NewBlock() { ::operator delete(block); }
  AttrBlock* block;
};

}  // namespace detail

class Attrs {
 public:
  static constexpr std::size_t inline_bytes = 80;

  Attrs() {}  // leaves the bytes uninitialized: clearing them would cost every op
  struct None {};
  constexpr explicit Attrs(None) : inside_{} {}
  template <class A>
    requires requires { A::fields; }
  Attrs(const A& a) : type_(&detail::attr_type<A>) {
    static_assert(alignof(A) <= 16);
    if constexpr (sizeof(A) > inline_bytes) {
      detail::NewBlock fresh(sizeof(A));
      ::new (static_cast<void*>(fresh.block->data)) A(a);
      block_() = std::exchange(fresh.block, nullptr);
    } else {
      ::new (static_cast<void*>(inside_)) A(a);
    }
  }
  Attrs(const Attrs& o) : type_(o.type_) {
    if (!type_) return;
    if (outside()) {
      block_() = o.block_();
      block_()->refs.fetch_add(1, std::memory_order_relaxed);
    } else {
      type_->copy(inside_, o.inside_);
    }
  }
  Attrs(Attrs&& o) noexcept { take(o); }
  Attrs& operator=(const Attrs& o) { return *this = Attrs(o); }
  Attrs& operator=(Attrs&& o) noexcept {
    if (this == &o) return *this;
    clear();
    take(o);
    return *this;
  }
  constexpr ~Attrs() { clear(); }

  bool empty() const { return !type_; }
  const detail::AttrType* type() const { return type_; }
  template <class A>
  bool holds() const {
    return type_ == &detail::attr_type<A>;
  }
  /// The struct; the caller (a rule or kernel of the op) knows its type.
  template <class A>
  const A& get() const {
    return *static_cast<const A*>(data());
  }
  void visit(AttrVisitor& v) const {
    if (type_) type_->visit(data(), v);
  }

 private:
  constexpr void clear() {
    if (!type_) return;
    if (!outside()) {
      type_->destroy(inside_);
    } else if (block_()->refs.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      type_->destroy(block_()->data);
      ::operator delete(block_());
    }
  }
  // Becomes what o is, which becomes empty; `*this` holds nothing before.
  void take(Attrs& o) noexcept {
    type_ = o.type_;
    if (!type_) return;
    if (outside()) block_() = o.block_();
    else if (!type_->move) std::memcpy(inside_, o.inside_, inline_bytes);
    else type_->move(inside_, o.inside_), type_->destroy(o.inside_);
    o.type_ = nullptr;
  }
  bool outside() const { return type_->size > inline_bytes; }
  const void* data() const { return outside() ? static_cast<const void*>(block_()->data) : inside_; }
  detail::AttrBlock*& block_() { return *reinterpret_cast<detail::AttrBlock**>(inside_); }
  detail::AttrBlock* block_() const { return *reinterpret_cast<detail::AttrBlock* const*>(inside_); }

  const detail::AttrType* type_ = nullptr;
  alignas(16) unsigned char inside_[inline_bytes];
};

namespace detail {
template <class A>
Attrs read_attrs(AttrReader& r) {
  A a{};
  read_fields(r, a, A::fields);
  return Attrs(a);
}
}  // namespace detail

inline constexpr Attrs no_attrs{Attrs::None{}};  // constant: never constructed or destroyed at run time

/// "axis=[0,1] keepdims=1", for prints and error texts.
TANDEM_API std::string to_string(const Attrs& a);
/// True for equal types and equal fields (opaque fields compare by identity, floats by their bits).
TANDEM_API bool operator==(const Attrs& a, const Attrs& b);
TANDEM_API std::size_t hash(const Attrs& a);

}  // namespace TANDEM_NS
