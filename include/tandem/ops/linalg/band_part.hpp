// linalg::band_part: triangular and banded parts of matrices.
#pragma once
#include "tandem/core/apply.hpp"

namespace TANDEM_NS {
namespace linalg {

/// Keeps a central band of matrices and sets all other elements to zero: element (i, j) is kept if i - j <= num_lower
/// and j - i <= num_upper. A negative number keeps that entire triangle: band_part(x, -1, 0) is the lower triangle,
/// band_part(x, 0, -1) the upper one, band_part(x, 0, 0) the diagonal.
///   x         [..., m, n], numbers or bool_
///   returns   same shape and dtype as x; zeros outside of the band, whatever x has there
///   throws    errors::InvalidArgumentError if x has rank below 2
///   gradient  band_part(g)
TANDEM_API Tensor band_part(const Tensor& x, i64 num_lower, i64 num_upper, OpOptions = {});

}  // namespace linalg

TANDEM_OPS(band_part_ops, band_part)

namespace rules {
struct BandPartAttrs {
  i64 num_lower, num_upper;
  TANDEM_ATTRS(BandPartAttrs, num_lower, num_upper);
};
}  // namespace rules
}  // namespace TANDEM_NS
