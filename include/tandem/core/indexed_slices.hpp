// IndexedSlices: a row-sparse tensor, what the gradient of a gather is. Gradient: a Tensor or IndexedSlices.
#pragma once
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

/// What flows back along a tape. Converts to Tensor, made dense where it is sparse.
class TANDEM_API Gradient {
 public:
  Gradient() = default;
  Gradient(Tensor dense) : values_(std::move(dense)) {}
  Gradient(IndexedSlices s) : values_(std::move(s.values)), indices_(std::move(s.indices)), like_(std::move(s.like)) {}

  bool is_set() const { return values_.is_set(); }
  bool is_sparse() const { return indices_.is_set(); }
  /// The value, or the unset tensor with its reason; dense only.
  const Tensor& dense() const& { return values_; }
  Tensor dense() && { return std::move(values_); }
  IndexedSlices slices() const { return {values_, indices_, like_}; }
  Tensor tensor() const { return is_sparse() ? convert_to_tensor(slices()) : values_; }
  operator Tensor() const { return tensor(); }

 private:
  Tensor values_, indices_, like_;
};

}  // namespace TANDEM_NS
