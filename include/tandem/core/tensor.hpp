// Tensor: a cheap handle to dense, row-major, immutable data, or to a value that is not known yet (while a function
// is traced).
// Not here: creation from literals and containers (ops/create), arithmetic (ops/).
#pragma once
#include <atomic>
#include <concepts>
#include <initializer_list>
#include <iosfwd>
#include <string>
#include <utility>
#include <vector>

#include "tandem/base/bytes.hpp"
#include "tandem/base/error.hpp"
#include "tandem/base/span.hpp"
#include "tandem/base/spec.hpp"
#include "tandem/core/allocator.hpp"
#include "tandem/core/context.hpp"
#include "tandem/core/packed.hpp"
#include "tandem/util/ref.hpp"

namespace TANDEM_NS {

// Header and data share one block up to a size limit; `owner` keeps alive the memory of a view or a borrowed buffer.
struct alignas(64) TensorHeader {
  enum Kind : std::uint8_t { own, view, external, symbolic, unset };
  std::atomic<std::uint32_t> refs;
  std::int8_t header_class;
  std::int16_t data_class;  // -1: no separate data block
  Kind kind;
  // Owns its data and has only this block to release: host data behind the header, no strings, no packed forms.
  std::atomic<bool> simple;
  std::atomic<bool> keeps_packed;  // the value of a Variable that products read
  u64 id;
  void* data;
  void* owner;
  Spec spec;
  PackedForms packed;
};
static_assert(sizeof(TensorHeader) == 128);

namespace detail::operators {
/// Base of classes with the operators + - == < ... of tensors. These are declared in this namespace, where only
/// argument-dependent lookup by this base finds them: as members of namespace tandem, they would be candidates for
/// every + of strings and every == of dtypes there, and of users who write `using namespace tandem`. An aggregate that
/// converts to Tensor is itself a member of this namespace instead, because a base would be one of its fields.
template <class Derived>  // distinct types, so that a class with such a member is not larger
struct WithOperators {};
}  // namespace detail::operators

class TANDEM_API Tensor : detail::operators::WithOperators<Tensor> {
 public:
  /// An unset tensor; any use of it raises.
  Tensor() = default;
  Tensor(const Tensor& o) noexcept : h_(o.h_) {
    if (h_) h_->refs.fetch_add(1, std::memory_order_relaxed);
  }
  Tensor(Tensor&& o) noexcept : h_(std::exchange(o.h_, nullptr)) {}
  // Assignment to a named handle only: x[0] = t would set a temporary and leave x unchanged.
  Tensor& operator=(const Tensor& o) & {
    Tensor t(o);
    std::swap(h_, t.h_);
    return *this;
  }
  Tensor& operator=(Tensor&& o) & noexcept {
    std::swap(h_, o.h_);
    return *this;
  }
  [[gnu::always_inline]] ~Tensor() {  // inline: most handles that die have been moved from
    if (h_) drop(h_);
  }

  bool is_set() const { return h_ && h_->kind != TensorHeader::unset; }
  /// True for the same value object (not merely equal numbers).
  bool is_same(const Tensor& o) const { return h_ == o.h_; }

  const Spec& spec() const {
    if (!is_set()) [[unlikely]]
      raise_unset();
    return h_->spec;
  }
  const Shape& shape() const { return spec().shape; }
  int rank() const { return shape().rank(); }
  /// The number of elements; raises like a dimension of shape() if it is unknown.
  i64 size() const { return shape().known_size(); }
  DType dtype() const { return spec().dtype; }
  Device device() const { return spec().device; }

  /// The only element, as T.
  ///   throws  errors::InvalidArgumentError if T is not the tensor's dtype or there is not exactly one element;
  ///           errors::TraceError while a function is traced
  template <class T>
  T item() const {
    T r{};
    read_elements(dtype_of<T>(), 1, true, &r);
    return r;
  }
  /// The element at an index, one number per axis (negative ones count from the end).
  template <class T>
  T at(std::initializer_list<i64> index) const {
    T r{};
    read_at(dtype_of<T>(), {index.begin(), index.size()}, &r);
    return r;
  }
  /// All elements in row-major order, copied to the host.
  template <class T>
  std::vector<T> to_vector() const {
    std::vector<T> r(static_cast<std::size_t>(size()));
    if constexpr (std::is_same_v<T, bool>) {
      std::vector<char> bytes(r.size());
      read_elements(dtype_of<T>(), size(), false, bytes.data());
      r.assign(bytes.begin(), bytes.end());
    } else {
      read_elements(dtype_of<T>(), size(), false, r.data());
    }
    return r;
  }
  /// The elements in place, valid during this tensor's lifetime; for host tensors of dtype T.
  template <class T>
  Span<const T> data() const {
    check_host(dtype_of<T>());
    return {static_cast<const T*>(h_->data), static_cast<std::size_t>(h_->spec.shape.size())};
  }

  /// x[i] along the leading axis: a view, O(1). A negative i counts from the end.
  Tensor operator[](i64 i) const;
  /// x[i] for a tensor that holds an index or indices of any shape: int32 or int64. A view if the index is a single
  /// known one.
  ///   throws    errors::InvalidArgumentError for an index out of range or an index tensor of another dtype
  ///   gradient  row-sparse
  Tensor operator[](const Tensor& i) const;
  template <class I>
    requires(std::same_as<I, bool> || std::floating_point<I>)
  Tensor operator[](I) const = delete;  // an index is an integer; for masks see boolean_mask
  /// x(Slice(1, 5), Ellipsis, NewAxis, -1): one item per axis; defined in ops/shape/slice.hpp.
  template <class... I>
  Tensor operator()(const I&... items) const;
  /// Copies the value to another device; returns it unchanged if it is already there. The gradient is copied back.
  Tensor to(Device device) const;
  Tensor to(std::string_view device) const { return to(device_named(device)); }  // "CPU:0", "GPU:1"
  Tensor cpu() const { return to({Device::cpu, 0}); }
  Tensor gpu(int index = 0) const { return to({Device::gpu, static_cast<std::uint8_t>(index)}); }
  /// Declares the shape, as far as it is known (`none`: unknown dimension). An existing value is only checked. In a
  /// trace, this handle then refers to a value with the dimensions filled in, which every call checks
  /// (ensure_shape); other handles keep their shape.
  ///   throws  errors::InvalidArgumentError with both shapes if they do not agree; in a trace also when the function
  ///           is called
  void set_shape(const Shape& shape);

  /// A tensor cannot be used as a condition: use t.item<bool>(), tandem::cond (in a traced function) or where(cond,
  /// a, b).
  explicit operator bool() const = delete;

  // For the library itself.
  explicit Tensor(TensorHeader* h) : h_(h) {}
  u64 id() const { return h_ ? h_->id : 0; }
  void* raw() const { return h_->data; }
  const Spec& known_spec() const { return h_->spec; }  // of a tensor that has been checked
  bool has_data() const { return h_ && h_->data; }     // neither unset nor symbolic
  bool is_symbolic() const { return h_ && h_->kind == TensorHeader::symbolic; }
  bool is_unique() const { return h_->kind == TensorHeader::own && h_->refs.load(std::memory_order_acquire) == 1; }
  /// Makes this another value, in the same buffer.
  void renew_id() {
    h_->id = new_id(context);
    drop_packed_forms();
  }
  /// Where kernels keep packed forms of the value, or null if it has none.
  PackedForms* packed_forms() const { return h_->keeps_packed.load(std::memory_order_relaxed) ? &h_->packed : nullptr; }
  /// Lets kernels keep packed forms of a value that many calls will read, if it is a matrix or filter of some size.
  void keep_packed_forms() const;
  /// Before the buffer is written, by its only owner.
  void drop_packed_forms() {
    if (!h_->packed.is_empty()) h_->packed.clear();
  }
  /// Allocates uninitialized storage (string elements start empty).
  static Tensor allocate(const Spec& spec);
  /// Creates a value without data: a traced one, or a shape that a tape keeps.
  static Tensor symbol(const Spec& spec);
  /// A view of the same storage with another spec, from a byte offset on; a view of a symbol is a symbol.
  static Tensor view_of(const Tensor& base, const Spec& spec, std::size_t offset = 0);
  /// Wraps borrowed host memory; `owner` (may be null) is released with the last handle.
  static Tensor borrow(const void* data, const Spec& spec, Ref<Opaque> owner);
  /// An unset tensor whose use raises FailedPreconditionError with this reason.
  static Tensor unset(std::string reason);
  std::string unset_reason() const;
  [[noreturn]] void raise_unset() const;

 private:
  static void drop(TensorHeader* h);
  static void destroy(TensorHeader* h);
  static Tensor allocate_apart(const Spec& spec, std::size_t bytes);
  void read_elements(DType as, i64 count, bool one, void* to) const;
  void read_at(DType as, Span<const i64> index, void* to) const;
  void check_host(DType as) const;

  TensorHeader* h_ = nullptr;
};

namespace detail {
/// Raises TraceError in the op's name: the traced tensor t is used outside of its trace.
[[noreturn]] TANDEM_API void raise_no_value(const char* op, const Tensor& t);
[[noreturn]] void raise_symbolic(const Tensor& t, const char* what);
/// Checks a user's tensor before t.raw() is read: a tensor kept from inside a traced function has no data.
inline void check_value(const char* op, const Tensor& t) {
  if (t.is_symbolic()) [[unlikely]]
    raise_no_value(op, t);
}
}  // namespace detail

namespace detail::operators {
void operator&&(const Tensor&, const Tensor&) = delete;  // write a & b
void operator||(const Tensor&, const Tensor&) = delete;  // write a | b
void operator!(const Tensor&) = delete;                  // write ~a
}  // namespace detail::operators

/// Formats a tensor as text: all values up to 1000 elements, the first and last 3 of each axis above that.
TANDEM_API std::string to_string(const Tensor& t);
/// tandem.Tensor(VALUES, shape=(2, 3), dtype=float32)
TANDEM_API std::ostream& operator<<(std::ostream& out, const Tensor& t);

}  // namespace TANDEM_NS
