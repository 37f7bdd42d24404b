// TensorArray: a list of tensors, each written once, that loops write and read at computed indices.
//
// It has value semantics: write() leaves the old handle unchanged and returns a new one. Outside traced functions
// the elements are a list shared by the handles. In a trace they are the rows of one tensor, with a flag for each
// that has been written; loops write into it in place, since they release the old value.
#pragma once
#include <concepts>
#include <mutex>
#include <optional>
#include <vector>

#include "tandem/base/shape_arg.hpp"
#include "tandem/core/apply.hpp"
#include "tandem/graph/lazy.hpp"
#include "tandem/graph/trace/tree.hpp"
#include "tandem/ops/dims.hpp"
#include "tandem/util/lean_vector.hpp"

namespace TANDEM_NS {

/// An index into a TensorArray: a number, or an int32 or int64 scalar tensor.
class ArrayIndex {
 public:
  template <std::integral I>
  ArrayIndex(I i) : number_(static_cast<i64>(i)) {}
  ArrayIndex(Dimension i) : number_(i) {}
  ArrayIndex(const Tensor& t) : tensor_(t) {}
  bool is_known() const { return !tensor_.is_set() || !tensor_.is_symbolic(); }
  /// The number; the index must be known.
  TANDEM_LAZY i64 number() const;
  TANDEM_LAZY Tensor tensor() const;

 private:
  i64 number_ = 0;
  Tensor tensor_;
};

struct TensorArrayOptions {
  bool dynamic_size = false;  ///< writing beyond the end makes it longer; only outside traced functions
  /// Whether read() releases the element's memory, for all handles; a second read raises. In a trace, where the
  /// elements are rows of one tensor, nothing is released and rows can be read again.
  bool clear_after_read = false;
  DimsArg element_shape = {};  ///< of all elements, {2, 5} or {n, 5}; default: in a trace, the shape of the first one
};

namespace detail {
/// The list of elements, shared by handles. Each element stores the number of its write; each handle stores the last
/// write it sees.
struct ArrayStore final : Opaque {
  struct Element {
    Tensor value;
    u64 written = 0;       // number of the write; 0: not written
    bool cleared = false;  // by a read
  };
  const char* kind() const override { return "tensor array"; }
  std::mutex mutex;
  LeanVector<Element> elements;
  u64 writes = 0;
};
}  // namespace detail

class TANDEM_API TensorArray {
 public:
  /// Creates an array of `size` elements of a dtype, none of them written.
  ///   throws  errors::InvalidArgumentError for a negative size, errors::UnimplementedError for .dynamic_size in a
  ///           trace
  TANDEM_LAZY TensorArray(DType dtype, i64 size, TensorArrayOptions options = {});
  TANDEM_LAZY TensorArray(DType dtype, const Tensor& size, TensorArrayOptions options = {});

  DType dtype() const { return dtype_; }
  /// The number of elements, an int32 scalar.
  TANDEM_LAZY Tensor size() const;

  /// Returns this array with element i set, which must not have been written before.
  ///   throws    errors::InvalidArgumentError if it has been written, for i out of range, for another dtype or shape
  ///   gradient  to value
  TANDEM_LAZY TensorArray write(const ArrayIndex& i, const Tensor& value, OpOptions = {}) const;
  /// Returns element i.
  ///   throws    errors::InvalidArgumentError if it has not been written, for i out of range, or if an earlier read has
  ///             cleared it (.clear_after_read); so do stack, concat and gather
  ///   gradient  to the element
  TANDEM_LAZY Tensor read(const ArrayIndex& i, OpOptions = {}) const;
  /// Stacks all elements, of equal shapes, along a new leading axis; throws as read. gradient: to the elements
  TANDEM_LAZY Tensor stack(OpOptions = {}) const;
  /// Concatenates all elements along their leading axis; throws as read. gradient: to the elements
  TANDEM_LAZY Tensor concat(OpOptions = {}) const;
  /// Stacks the elements at the indices (int32 or int64 [k]); throws as read. gradient: to the elements
  TANDEM_LAZY Tensor gather(const Tensor& indices, OpOptions = {}) const;

  /// Returns an array whose elements are the rows of x. This array must have that size (or `.dynamic_size`) and no
  /// elements.
  TANDEM_LAZY TensorArray unstack(const Tensor& x) const;
  /// Returns this array with row k of x written at indices[k]; counts as that many writes.
  TANDEM_LAZY TensorArray scatter(const Tensor& indices, const Tensor& x) const;
  /// Returns an array whose elements are consecutive parts of x along axis 0, of these lengths.
  TANDEM_LAZY TensorArray split(const Tensor& x, const std::vector<i64>& lengths) const;

  /// For tree.hpp: visits what identifies the array among arguments, and its tensors.
  template <class F>
  void each_part(const F& f) {
    parts(*this, f);
  }
  template <class F>
  void each_part(const F& f) const {
    parts(*this, f);
  }
  /// The spec of the elements, once it is known in a trace.
  TANDEM_LAZY std::optional<Spec> element_spec() const;
  /// Allocates the rows of an array that has no elements yet.
  TANDEM_LAZY void settle(const Spec& element);

 private:
  TANDEM_LAZY void settle(const Dims& element);
  template <class Self, class F>
  static void parts(Self& self, const F& f) {
    f(self.dtype_), f(self.dynamic_), f(self.clear_);
    if (self.is_traced()) return f(self.rows_), f(self.written_);
    // A list is visited element by element. A handle whose elements may be replaced gets its own list.
    static const Tensor unwritten;
    if constexpr (!std::is_const_v<Self>) self.replace(self.elements());
    const std::size_t n = self.store_->elements.size();
    f(n);
    for (auto& e : self.store_->elements) {
      if (e.written && e.written <= self.version_) f(e.value);
      else f(unwritten);
    }
  }
  bool is_traced() const { return !store_; }
  TANDEM_LAZY std::vector<Tensor> elements() const;  // unset where not written
  TANDEM_LAZY void replace(std::vector<Tensor> elements);
  TANDEM_LAZY TensorArray filled(std::vector<Tensor> list) const;
  TANDEM_LAZY TensorArray as_rows(const OpOptions& options) const;
  TANDEM_LAZY TensorArray write_row(const Tensor& i, const Tensor& value, const OpOptions& options) const;
  TANDEM_LAZY void check_element(const Tensor& value) const;
  TANDEM_LAZY Tensor element(i64 i, bool clear = false) const;

  DType dtype_;
  bool dynamic_, clear_;
  ShapeArg element_shape_;
  Ref<detail::ArrayStore> store_;  // the list; null in a trace, where the next two members are used
  u64 version_ = 0;                // this handle sees the store's writes up to this one
  Tensor rows_, written_;          // rows_ is unset until the element shape is known
};

namespace control {
// Visits the TensorArrays in a value, in order.
template <class T, class F>
void each_array(T& x, const F& f) {
  using V = std::remove_const_t<T>;
  if constexpr (std::is_same_v<V, TensorArray>) f(x);
  else if constexpr (!std::is_same_v<V, Tensor> && !std::is_same_v<V, Variable> && !tree::detail::is_number<V> &&
                     !tree::detail::is_text<V>)
    tree::detail::each_part(x, [&](auto& part) { each_array(part, f); });
}
/// The element spec of each TensorArray, if known.
template <class T>
LeanVector<std::optional<Spec>> element_specs(const T& x) {
  LeanVector<std::optional<Spec>> r;
  each_array(x, [&](const TensorArray& a) { r.push_back(a.element_spec()); });
  return r;
}
TANDEM_LAZY inline bool are_new(const LeanVector<std::optional<Spec>>& now,
                                const LeanVector<std::optional<Spec>>& before) {
  for (std::size_t i = 0; i < now.size() && i < before.size(); ++i)
    if (now[i] && !before[i]) return true;
  return false;
}
template <class T>
void settle_elements(T& x, const LeanVector<std::optional<Spec>>& specs) {
  std::size_t next = 0;
  each_array(x, [&](TensorArray& a) {
    if (const std::optional<Spec>& s = specs[next++]; s && !a.element_spec()) a.settle(*s);
  });
}
}  // namespace control

}  // namespace TANDEM_NS
