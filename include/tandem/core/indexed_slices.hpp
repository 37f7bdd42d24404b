// IndexedSlices: a row-sparse tensor, the form of the gradients of gather and x[i]. Gradient: a Tensor or
// IndexedSlices.
#pragma once
#include <array>
#include <tuple>
#include <vector>

#include "tandem/core/tensor.hpp"
#include "tandem/util/lean_vector.hpp"
#include "tandem/util/ref.hpp"

namespace TANDEM_NS {

/// The tensor of shape `like.shape()` that is zero but for rows `indices[i]` of axis 0, to each of which `values[i]` is
/// added (an index may occur several times).
///   values   [n, ...]; indices [n], int32 or int64; like: only its shape is used
struct IndexedSlices {
  Tensor values, indices, like;

  const Shape& dense_shape() const { return like.shape(); }
};

/// Converts to the dense form; duplicate rows are summed. Differentiable with respect to the values.
TANDEM_API Tensor convert_to_tensor(const IndexedSlices& slices);

class Gradient;
namespace detail {
/// What row-sparse gradients can do, by address: a program that makes none does not contain it.
struct RowCode {
  Tensor (*indices)(const Gradient&);
  Tensor (*dense)(const Gradient&);
  Gradient (*join)(LeanVector<Gradient>& parts);  // the sum of parts of different rows, which it takes
};
extern TANDEM_API const RowCode row_code;
}  // namespace detail

/// A gradient computed by a tape. Reads as the Tensor that it converts to; a sparse one is converted to dense form.
class TANDEM_API Gradient : detail::operators::WithOperators<Gradient> {
 public:
  Gradient() = default;
  Gradient(const Gradient&) = default;
  Gradient(Gradient&&) = default;
  Gradient& operator=(const Gradient&) = default;
  Gradient& operator=(Gradient&&) = default;
  [[gnu::always_inline]] ~Gradient() = default;  // a tape's walk destroys several for each op
  Gradient(Tensor dense) : values_(std::move(dense)) {}
  Gradient(IndexedSlices s) : values_(std::move(s.values)) {
    if (s.indices.is_set()) rows_ = make_ref<Rows>(std::move(s.indices), std::move(s.like), -1);
  }
  /// A row-sparse gradient whose values are the rows first, first + 1, ... of a tensor of like's shape.
  /// values.shape()[0] must be known.
  static Gradient of_rows(Tensor values, i64 first, Tensor like) {
    Gradient g(std::move(values));
    g.rows_ = make_ref<Rows>(Tensor(), std::move(like), first);
    return g;
  }

  /// A gradient of the same form, row-sparse in the same rows, with other values.
  Gradient with_values(Tensor values) const {
    Gradient g(std::move(values));
    g.rows_ = rows_;
    return g;
  }

  bool is_set() const { return values_.is_set(); }
  bool is_sparse() const { return static_cast<bool>(rows_); }
  /// The value, or the unset tensor with its reason; for dense gradients only.
  ///   throws  errors::InvalidArgumentError for a row-sparse gradient: tensor() is the dense form of any
  const Tensor& dense() const& {
    if (is_sparse()) [[unlikely]]
      raise_sparse();
    return values_;
  }
  Tensor dense() && {
    if (is_sparse()) [[unlikely]]
      raise_sparse();
    return std::move(values_);
  }
  /// The value if dense; the nonzero rows if row-sparse.
  const Tensor& values() const& { return values_; }
  Tensor values() && { return std::move(values_); }
  /// The tensor whose shape the dense form has; row-sparse only.
  const Tensor& like() const { return rows_->like; }
  /// The first of consecutive rows, or -1 if the rows are given by indices; row-sparse only.
  i64 first_row() const { return rows_->first; }
  IndexedSlices slices() const { return {values_, indices(), rows_->like}; }
  /// The rows; row-sparse only.
  Tensor indices() const { return rows_->first < 0 ? rows_->indices : rows_->code->indices(*this); }
  Tensor tensor() const { return is_sparse() ? rows_->code->dense(*this) : values_; }
  /// The sum of row-sparse gradients of different rows, which are taken from `parts`; this is one of them.
  Gradient join(LeanVector<Gradient>& parts) const { return rows_->code->join(parts); }
  void make_dense() {
    if (is_sparse()) *this = Gradient(tensor());
  }
  /// Visits the tensor, for traced functions (graph/trace/tree.hpp), which treat a gradient as one tensor.
  ///   throws  errors::InvalidArgumentError for a row-sparse gradient
  template <class F>
  void each_part(const F& f) {
    check_dense();
    f(values_);
  }
  template <class F>
  void each_part(const F& f) const {
    check_dense();
    f(values_);
  }
  operator Tensor() const { return tensor(); }
  Shape shape() const { return is_sparse() ? rows_->like.shape() : values_.shape(); }
  DType dtype() const { return values_.dtype(); }
  template <class T>
  T item() const {
    return tensor().item<T>();
  }
  template <class T>
  std::vector<T> to_vector() const {
    return tensor().to_vector<T>();
  }

 private:
  [[noreturn, gnu::cold]] static void raise_sparse() {
    errors::raise<errors::InvalidArgumentError>(
        "gradient", "dense() of a row-sparse gradient; tensor() is its dense form, values() are its rows");
  }
  void check_dense() const {
    if (is_sparse())
      errors::raise<errors::InvalidArgumentError>(
          "function", "a row-sparse gradient is not supported here; convert_to_tensor() makes it dense");
  }

  // The rows of a row-sparse gradient. Shared and immutable: most gradients are dense and stay small.
  struct Rows {
    Rows(Tensor i, Tensor l, i64 f) : indices(std::move(i)), like(std::move(l)), first(f) {}
    void retain() { refs.fetch_add(1, std::memory_order_relaxed); }
    [[gnu::noinline]] void release() {
      if (refs.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
    }
    const Tensor indices, like;
    const i64 first;
    const detail::RowCode* const code = &detail::row_code;
    std::atomic<std::uint32_t> refs{0};
  };
  Tensor values_;
  Ref<Rows> rows_;
};

/// The gradients of N sources: `auto [dw, db] = tape.gradient(loss, {w, b})`. Converts to vectors of Tensor or
/// Gradient.
template <std::size_t N>
struct Gradients : std::array<Gradient, N> {
  operator std::vector<Gradient>() const { return {this->begin(), this->end()}; }
  operator std::vector<Tensor>() const { return {this->begin(), this->end()}; }
};

}  // namespace TANDEM_NS

template <std::size_t N>
struct std::tuple_size<tandem::Gradients<N>> : std::integral_constant<std::size_t, N> {};
template <std::size_t I, std::size_t N>
struct std::tuple_element<I, tandem::Gradients<N>> {
  using type = tandem::Gradient;
};
