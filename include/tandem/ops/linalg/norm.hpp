// Norms: tandem::norm and linalg::normalize. Not here: the norms of matrices that are made of singular values
// (linalg::norm and linalg::matrix_norm in tandem/linalg.hpp), nn::l2_normalize (ops/norm/moments.hpp).
#pragma once
#include <type_traits>

#include "tandem/base/axes.hpp"
#include "tandem/core/apply.hpp"

namespace TANDEM_NS {

/// The order of a norm: "euclidean" (the default), "fro", "nuc", or a number: 1, 2, INFINITY, any p > 0.
class NormOrder {
 public:
  enum Kind : std::uint8_t { euclidean, frobenius, nuclear, power };
  /// Raises errors::InvalidArgumentError for any other text.
  TANDEM_API NormOrder(const char* text);
  template <class N>
    requires(std::is_arithmetic_v<N> && !std::is_same_v<N, bool>)
  constexpr NormOrder(N p) : p_(static_cast<double>(p)), kind_(power) {}

  Kind kind() const { return kind_; }
  /// The number, where kind() is power.
  double p() const { return p_; }

 private:
  constexpr NormOrder() = default;
  double p_ = 2;
  Kind kind_ = euclidean;
  friend struct NormOptions;
};
struct NormOptions {
  TANDEM_OP_OPTIONS;
  NormOrder ord = NormOrder();  ///< "euclidean", "fro", 1, 2, INFINITY, or p > 0
  Axes axis = {};         ///< one axis: norms of vectors; two: of matrices; default: of all elements as one vector
  bool keepdims = false;  ///< keep the reduced axes with size 1
};
/// Norm of vectors, of matrices, or of all elements. Of vectors: (sum of |x|^p)^(1/p), the largest |x| for INFINITY,
/// scaled so that nothing overflows. Of matrices (two axes, rows first): "euclidean" and "fro" are the square root of
/// the sum of squares, 1 the largest sum of a column of |x|, INFINITY that of a row; 2 and "nuc" need singular values:
/// linalg::norm of tandem/linalg.hpp.
///   x         floating or complex
///   returns   x's shape without the axes; floating; 0 for an empty vector
///   throws    errors::InvalidArgumentError for an order that the number of axes does not have, more than two axes, or
///             an axis out of range; errors::UnimplementedError for other dtypes
///   gradient  g * x / norm, 0 where the norm is 0; sign(x) for 1; divided equally among ties for INFINITY
TANDEM_API Tensor norm(const Tensor& x, NormOptions = {});
TANDEM_AXIS_LIST_OVERLOADS(norm, NormOptions, axis)
// Not norm(x, 1): the second argument of tf.norm and np.linalg.norm is the order. Write {.ord = 1} or {.axis = 1}.
template <detail::AxisNumber I>
Tensor norm(const Tensor& x, I, NormOptions = {}) = delete;

namespace linalg {

struct NormalizeOptions {
  TANDEM_OP_OPTIONS;
  NormOrder ord = "euclidean";
  Axes axis = {};
};
struct Normalized {
  Tensor normalized, norm;  ///< x divided by its norm, and the norm
};
/// Divides by the norm. Options as norm().
///   returns   {x / norm, norm}; the norm keeps its axes, with size 1. Zeros stay zeros
///   gradient  exact, through both results
TANDEM_API Normalized normalize(const Tensor& x, NormalizeOptions = {});
}  // namespace linalg

}  // namespace TANDEM_NS
