// IndexedSlices: a row-sparse tensor, what the gradients of gather and of x[i] are. Gradient: a Tensor or
// IndexedSlices.
#pragma once
#include <array>
#include <tuple>
#include <vector>

#include "tandem/base/ref.hpp"
#include "tandem/core/tensor.hpp"

namespace TANDEM_NS {

/// The tensor of shape `like.shape()` that is zero but for rows `indices[i]` of axis 0, to each of which `values[i]` is
/// added (an index may occur several times).
///   values   [n, ...]; indices [n], int32 or int64; like: its shape alone counts
struct IndexedSlices {
  Tensor values, indices, like;

  const Shape& dense_shape() const { return like.shape(); }
};

/// The dense form; duplicate rows add up. Differentiable with respect to the values.
TANDEM_API Tensor convert_to_tensor(const IndexedSlices& slices);

/// What flows back along a tape: reads as the Tensor that it converts to, made dense where it is sparse.
class TANDEM_API Gradient {
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
  /// Row-sparse: the values are the rows first, first + 1, ... of a tensor of like's shape. values.shape()[0] is known.
  static Gradient of_rows(Tensor values, i64 first, Tensor like) {
    Gradient g(std::move(values));
    g.rows_ = make_ref<Rows>(Tensor(), std::move(like), first);
    return g;
  }

  bool is_set() const { return values_.is_set(); }
  bool is_sparse() const { return static_cast<bool>(rows_); }
  /// The value, or the unset tensor with its reason; dense only.
  const Tensor& dense() const& { return values_; }
  Tensor dense() && { return std::move(values_); }
  /// Dense: the value; row-sparse: the rows that are not zero.
  const Tensor& values() const& { return values_; }
  Tensor values() && { return std::move(values_); }
  /// Row-sparse only: the tensor whose shape the dense form has.
  const Tensor& like() const { return rows_->like; }
  /// Row-sparse only: the first of consecutive rows; -1 where the rows are given by indices.
  i64 first_row() const { return rows_->first; }
  IndexedSlices slices() const { return {values_, rows_->first < 0 ? rows_->indices : row_indices(), rows_->like}; }
  Tensor tensor() const { return is_sparse() ? dense_form() : values_; }
  void make_dense() {
    if (is_sparse()) *this = Gradient(dense_form());
  }
  /// For traced functions (graph/trace/tree.hpp), to which a gradient is one tensor.
  ///   throws  errors::InvalidArgumentError for a row-sparse one
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
  void check_dense() const {
    if (is_sparse())
      errors::raise<errors::InvalidArgumentError>(
          "function", "a row-sparse gradient cannot pass here; convert_to_tensor() makes it dense");
  }
  Tensor row_indices() const;
  Tensor dense_form() const;

  // Which rows of what a row-sparse gradient has. Shared, never changed: most gradients are dense and stay small.
  struct Rows {
    Rows(Tensor i, Tensor l, i64 f) : indices(std::move(i)), like(std::move(l)), first(f) {}
    void retain() { refs.fetch_add(1, std::memory_order_relaxed); }
    [[gnu::noinline]] void release() {
      if (refs.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
    }
    const Tensor indices, like;
    const i64 first;
    std::atomic<std::uint32_t> refs{0};
  };
  Tensor values_;
  Ref<Rows> rows_;
};

/// The gradients of N sources: `auto [dw, db] = tape.gradient(loss, {w, b})`. Converts to vectors of both kinds.
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
