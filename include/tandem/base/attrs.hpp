// Attrs: the attributes of one op call, one plain struct, type-erased. Inline up to 80 bytes (a Shape and a little),
// behind a counted pointer above that. From the struct's field list come print, hash, equality and serialisation.
//
//   struct ReduceAttrs {
//     Axes axis;
//     bool keepdims;
//     static constexpr auto fields = std::make_tuple(field("axis", &ReduceAttrs::axis), field("keepdims", &...));
//   };
#pragma once
#include <atomic>
#include <bit>
#include <cstring>
#include <new>
#include <string>
#include <tuple>
#include <type_traits>

#include "tandem/base/axes.hpp"
#include "tandem/base/ref.hpp"
#include "tandem/base/spec.hpp"

namespace TANDEM_NS {

template <class A, class T>
struct Field {
  const char* name;
  T A::*member;
};
template <class A, class T>
constexpr Field<A, T> field(const char* name, T A::*member) {
  return {name, member};
}

/// Receives the fields of an attribute struct one by one: printers, hashers and savers are such visitors.
struct AttrVisitor {
  virtual void number(const char* name, i64 value) = 0;
  virtual void real(const char* name, double value) = 0;
  virtual void text(const char* name, const std::string& value) = 0;
  virtual void numbers(const char* name, const i64* values, int count) = 0;
  virtual void opaque(const char* name, const Opaque* value) = 0;

 protected:
  ~AttrVisitor() = default;
};

namespace detail {

template <class T>
void visit_field(AttrVisitor& v, const char* name, const T& x) {
  if constexpr (std::is_floating_point_v<T>) {
    v.real(name, x);
  } else if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) {
    v.number(name, static_cast<i64>(x));
  } else if constexpr (std::is_same_v<T, std::string>) {
    v.text(name, x);
  } else if constexpr (std::is_same_v<T, Shape>) {
    v.numbers(name, x.begin(), x.rank());
  } else if constexpr (std::is_same_v<T, Device>) {
    v.number(name, x.kind * 256 + x.index);
  } else if constexpr (std::is_same_v<T, Axes>) {
    i64 a[max_rank];
    for (int i = 0; i < x.size(); ++i) a[i] = x[i];
    v.numbers(name, a, x.given() ? x.size() : -1);
  } else {
    v.opaque(name, x.get());  // Ref<Opaque> and Ref to what derives from it
  }
}

// What Attrs must know of the struct it holds.
struct AttrType {
  std::size_t size;
  void (*copy)(void* to, const void* from);
  void (*destroy)(void*);
  void (*visit)(const void*, AttrVisitor&);
};

template <class A>
inline constexpr AttrType attr_type{
    sizeof(A), [](void* to, const void* from) { ::new (to) A(*static_cast<const A*>(from)); },
    [](void* p) { static_cast<A*>(p)->~A(); },
    [](const void* p, AttrVisitor& v) {
      std::apply([&](const auto&... f) { (visit_field(v, f.name, static_cast<const A*>(p)->*f.member), ...); },
                 A::fields);
    }};

struct AttrBlock {  // followed by the struct
  std::atomic<std::uint32_t> refs;
  alignas(16) unsigned char data[1];
};

}  // namespace detail

class Attrs {
 public:
  static constexpr std::size_t inline_bytes = 80;

  Attrs() {}  // leaves the bytes unset: clearing them would cost every op
  template <class A>
    requires requires { A::fields; }
  Attrs(const A& a) : type_(&detail::attr_type<A>) {
    static_assert(alignof(A) <= 16);
    void* at = inside_;
    if constexpr (sizeof(A) > inline_bytes) {
      block_() = static_cast<detail::AttrBlock*>(::operator new(sizeof(detail::AttrBlock) + sizeof(A)));
      ::new (&block_()->refs) std::atomic<std::uint32_t>(1);
      at = block_()->data;
    }
    ::new (at) A(a);
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
  Attrs& operator=(const Attrs& o) {
    if (this == &o) return *this;
    this->~Attrs();
    return *::new (this) Attrs(o);
  }
  ~Attrs() {
    if (!type_) return;
    if (!outside()) {
      type_->destroy(inside_);
    } else if (block_()->refs.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      type_->destroy(block_()->data);
      ::operator delete(block_());
    }
  }

  bool empty() const { return !type_; }
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
  bool outside() const { return type_->size > inline_bytes; }
  const void* data() const { return outside() ? static_cast<const void*>(block_()->data) : inside_; }
  detail::AttrBlock*& block_() { return *reinterpret_cast<detail::AttrBlock**>(inside_); }
  detail::AttrBlock* block_() const { return *reinterpret_cast<detail::AttrBlock* const*>(inside_); }

  const detail::AttrType* type_ = nullptr;
  alignas(16) unsigned char inside_[inline_bytes];
};

inline const Attrs no_attrs;

/// "axis=[0,1] keepdims=1", for prints and error texts.
TANDEM_API std::string to_string(const Attrs& a);
/// Equal types and equal fields (opaque fields by identity; floats by their bits).
TANDEM_API bool operator==(const Attrs& a, const Attrs& b);
TANDEM_API std::size_t hash(const Attrs& a);

}  // namespace TANDEM_NS

#ifdef TANDEM_IMPLEMENT_CORE
namespace TANDEM_NS {
namespace detail {

// The fields as text without loss; equality and hash go through it, for they are off every hot path.
struct AttrPrinter final : AttrVisitor {
  std::string out;
  bool exact = false;

  void key(const char* name) { out += (out.empty() ? "" : " ") + std::string(name) + "="; }
  void number(const char* name, i64 value) override { key(name), out += std::to_string(value); }
  void real(const char* name, double value) override {
    key(name), out += exact ? std::to_string(std::bit_cast<u64>(value)) : std::to_string(value);
  }
  void text(const char* name, const std::string& value) override { key(name), out += "\"" + value + "\""; }
  void numbers(const char* name, const i64* values, int count) override {
    key(name);
    if (count < 0) {
      out += "not given";
      return;
    }
    out += "[";
    for (int i = 0; i < count; ++i)
      out += (i ? "," : "") + (values[i] == none ? std::string("None") : std::to_string(values[i]));
    out += "]";
  }
  void opaque(const char* name, const Opaque* value) override {
    key(name), out += value ? value->kind() : "nothing";
    if (exact) out += std::to_string(reinterpret_cast<std::uintptr_t>(value));
  }
};
TANDEM_INLINE std::string exact_text(const Attrs& a) {
  AttrPrinter p;
  p.exact = true;
  a.visit(p);
  return std::move(p.out);
}

}  // namespace detail

TANDEM_INLINE std::string to_string(const Attrs& a) {
  detail::AttrPrinter p;
  a.visit(p);
  return std::move(p.out);
}
TANDEM_INLINE bool operator==(const Attrs& a, const Attrs& b) { return detail::exact_text(a) == detail::exact_text(b); }
TANDEM_INLINE std::size_t hash(const Attrs& a) { return std::hash<std::string>()(detail::exact_text(a)); }

}  // namespace TANDEM_NS
#endif
