// TensorArray: a list of tensors, each written once, that loops fill and read by computed places.
//
// A value: write() leaves the old handle as it was and returns a new one. Outside of traced functions the elements are
// a list that handles share. In a trace they are the rows of one tensor, beside a mark for each that has been written;
// loops write into it in place, since they let go of the old value.
#pragma once
#include <concepts>
#include <mutex>
#include <optional>
#include <vector>

#include "tandem/core/apply.hpp"
#include "tandem/graph/trace/tree.hpp"
#include "tandem/ops/dims.hpp"
#include "tandem/ops/shape_arg.hpp"

namespace TANDEM_NS {

/// A place in a TensorArray: a number, or an int32 or int64 scalar tensor.
class ArrayIndex {
 public:
  template <std::integral I>
  ArrayIndex(I i) : number_(static_cast<i64>(i)) {}
  ArrayIndex(Dimension i) : number_(i) {}
  ArrayIndex(const Tensor& t) : tensor_(t) {}
  bool is_known() const { return !tensor_.is_set() || !tensor_.is_symbolic(); }
  /// Of a known one.
  i64 number() const;
  Tensor tensor() const;

 private:
  i64 number_ = 0;
  Tensor tensor_;
};

struct TensorArrayOptions {
  bool dynamic_size = false;   ///< writing beyond the end makes it longer; outside of traced functions only
  DimsArg element_shape = {};  ///< of all elements, {2, 5} or {n, 5}; not given: the first one's, in a trace
};

namespace detail {
/// The elements that handles share. Each knows with which write it came, and a handle with which it ends.
struct ArrayStore final : Opaque {
  struct Element {
    Tensor value;
    u64 written = 0;  // by which write; 0: not
  };
  const char* kind() const override { return "tensor array"; }
  std::mutex mutex;
  std::vector<Element> elements;
  u64 writes = 0;
};
}  // namespace detail

class TANDEM_API TensorArray {
 public:
  /// size elements of a dtype, none of them written.
  ///   throws  errors::InvalidArgumentError for a negative size, errors::UnimplementedError for .dynamic_size in a
  ///   trace
  TensorArray(DType dtype, i64 size, TensorArrayOptions options = {});
  TensorArray(DType dtype, const Tensor& size, TensorArrayOptions options = {});

  DType dtype() const { return dtype_; }
  /// How many elements there can be, an int32 scalar.
  Tensor size() const;

  /// This array with element i, which has not been written before.
  ///   throws    errors::InvalidArgumentError if it has, for i out of range, for another dtype or shape
  ///   gradient  to value
  TensorArray write(const ArrayIndex& i, const Tensor& value, OpOptions = {}) const;
  /// Element i.
  ///   throws    errors::InvalidArgumentError if it has not been written, or for i out of range
  ///   gradient  to the element
  Tensor read(const ArrayIndex& i, OpOptions = {}) const;
  /// All elements, which have equal shapes, along a new leading axis; throws as read. gradient: to the elements
  Tensor stack(OpOptions = {}) const;
  /// All elements along their leading axis; throws as read. gradient: to the elements
  Tensor concat(OpOptions = {}) const;
  /// The elements that the indices (int32 or int64 [k]) name, stacked; throws as read. gradient: to the elements
  Tensor gather(const Tensor& indices, OpOptions = {}) const;

  /// An array whose elements are the rows of x; this one must have that size (or `.dynamic_size`), and no element.
  TensorArray unstack(const Tensor& x) const;
  /// This array with row k of x at indices[k]; as that many writes.
  TensorArray scatter(const Tensor& indices, const Tensor& x) const;
  /// An array whose elements are pieces of x along axis 0, of these lengths.
  TensorArray split(const Tensor& x, const std::vector<i64>& lengths) const;

  /// For tree.hpp: what identifies the array among arguments, and its tensors.
  template <class F>
  void each_part(const F& f) {
    parts(*this, f);
  }
  template <class F>
  void each_part(const F& f) const {
    parts(*this, f);
  }
  /// The spec of its elements, once it is known in a trace.
  std::optional<Spec> element_spec() const;
  /// Makes the rows of an array that has no element yet.
  void settle(const Spec& element);

 private:
  void settle(const Dims& element);
  template <class Self, class F>
  static void parts(Self& self, const F& f) {
    f(self.dtype_), f(self.dynamic_);
    if (self.is_traced()) return f(self.rows_), f(self.written_);
    // A list, element by element. A handle whose elements may be exchanged gets a list of its own.
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
  std::vector<Tensor> elements() const;  // unset where none was written
  void replace(std::vector<Tensor> elements);
  TensorArray filled(std::vector<Tensor> list) const;
  TensorArray as_rows(const OpOptions& options) const;
  TensorArray write_row(const Tensor& i, const Tensor& value, const OpOptions& options) const;
  void check_element(const Tensor& value) const;
  Tensor element(i64 i) const;

  DType dtype_;
  bool dynamic_;
  ShapeArg element_shape_;
  Ref<detail::ArrayStore> store_;  // a list; or the next two
  u64 version_ = 0;                // of the store's writes, those up to this one are ours
  Tensor rows_, written_;          // rows_ is unset until the elements' shape is known
};

namespace control {
// The TensorArrays in a value, in order.
template <class T, class F>
void each_array(T& x, const F& f) {
  using V = std::remove_const_t<T>;
  if constexpr (std::is_same_v<V, TensorArray>) f(x);
  else if constexpr (!std::is_same_v<V, Tensor> && !std::is_same_v<V, Variable> && !tree::detail::is_number<V> &&
                     !tree::detail::is_text<V>)
    tree::detail::each_part(x, [&](auto& part) { each_array(part, f); });
}
/// Of each the spec of its elements, where it is known.
template <class T>
std::vector<std::optional<Spec>> element_specs(const T& x) {
  std::vector<std::optional<Spec>> r;
  each_array(x, [&](const TensorArray& a) { r.push_back(a.element_spec()); });
  return r;
}
inline bool are_new(const std::vector<std::optional<Spec>>& now, const std::vector<std::optional<Spec>>& before) {
  for (std::size_t i = 0; i < now.size() && i < before.size(); ++i)
    if (now[i] && !before[i]) return true;
  return false;
}
template <class T>
void settle_elements(T& x, const std::vector<std::optional<Spec>>& specs) {
  std::size_t next = 0;
  each_array(x, [&](TensorArray& a) {
    if (const std::optional<Spec>& s = specs[next++]; s && !a.element_spec()) a.settle(*s);
  });
}
}  // namespace control

}  // namespace TANDEM_NS
