// IndexedSlices: a row-sparse tensor, what the gradients of gather and of x[i] are. Gradient: a Tensor or
// IndexedSlices.
#pragma once
#include <array>
#include <tuple>
#include <vector>

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
  Gradient(Tensor dense) : values_(std::move(dense)) {}
  Gradient(IndexedSlices s) : values_(std::move(s.values)), indices_(std::move(s.indices)), like_(std::move(s.like)) {}
  /// Row-sparse: the values are the rows first, first + 1, ... of a tensor of like's shape. values.shape()[0] is known.
  static Gradient of_rows(Tensor values, i64 first, Tensor like) {
    Gradient g(std::move(values));
    g.like_ = std::move(like), g.first_row_ = first;
    return g;
  }

  bool is_set() const { return values_.is_set(); }
  bool is_sparse() const { return indices_.is_set() || first_row_ >= 0; }
  /// The value, or the unset tensor with its reason; dense only.
  const Tensor& dense() const& { return values_; }
  Tensor dense() && { return std::move(values_); }
  /// Dense: the value; row-sparse: the rows that are not zero.
  const Tensor& values() const& { return values_; }
  Tensor values() && { return std::move(values_); }
  /// Row-sparse only: the tensor whose shape the dense form has.
  const Tensor& like() const { return like_; }
  /// Row-sparse only: the first of consecutive rows; -1 where the rows are given by indices.
  i64 first_row() const { return first_row_; }
  IndexedSlices slices() const { return {values_, first_row_ < 0 ? indices_ : row_indices(), like_}; }
  Tensor tensor() const { return is_sparse() ? dense_form() : values_; }
  void make_dense() {
    if (is_sparse()) *this = Gradient(dense_form());
  }
  /// For traced functions (graph/tree.hpp), to which a gradient is one tensor.
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
  Shape shape() const { return is_sparse() ? like_.shape() : values_.shape(); }
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

  Tensor values_, indices_, like_;
  i64 first_row_ = -1;
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
