// Bitwise operations on integers, element by element, in namespace bitwise. Not here: the operators & | ^ ~
// (pointwise/compare.hpp).
#pragma once
#include "tandem/ops/pointwise/operand.hpp"
#include "tandem/ops/rule.hpp"
#include "tandem/util/scalar_math.hpp"

namespace TANDEM_NS {

namespace bitwise {
/// Bitwise AND, OR, exclusive OR and complement.
///   a, b      integers of one dtype; shapes that broadcast
///   returns   the broadcast shape, same dtype
///   throws    errors::UnimplementedError for other dtypes; errors::InvalidArgumentError if dtypes differ or shapes
///             do not broadcast
///   gradient  none (non-differentiable)
TANDEM_API Tensor bitwise_and(const Tensor& a, const Tensor& b, OpOptions = {});
TANDEM_API Tensor bitwise_or(const Tensor& a, const Tensor& b, OpOptions = {});
TANDEM_API Tensor bitwise_xor(const Tensor& a, const Tensor& b, OpOptions = {});
TANDEM_API Tensor invert(const Tensor& x, OpOptions = {});
/// Shifts the bits of a by n, with n clamped to [0, bits - 1]. A right shift preserves the sign. Otherwise as
/// bitwise_and.
TANDEM_API Tensor left_shift(const Tensor& a, const Tensor& n, OpOptions = {});
TANDEM_API Tensor right_shift(const Tensor& a, const Tensor& n, OpOptions = {});
/// Counts the bits that are 1, as uint8. Otherwise as invert.
TANDEM_API Tensor population_count(const Tensor& x, OpOptions = {});
TANDEM_SCALAR_OVERLOADS(bitwise_and)
TANDEM_SCALAR_OVERLOADS(bitwise_or)
TANDEM_SCALAR_OVERLOADS(bitwise_xor)
TANDEM_SCALAR_OVERLOADS(left_shift)
TANDEM_SCALAR_OVERLOADS(right_shift)
}  // namespace bitwise

// The ops of this file, by the form of their public functions. All other lists of them are derived from this one.
#define TANDEM_BITWISE_OPS(unary, binary, other)                                                                  \
  binary(bitwise_and) binary(bitwise_or) binary(bitwise_xor) unary(invert) binary(left_shift) binary(right_shift) \
      unary(population_count)
TANDEM_DECLARE_OPS(bitwise_ops, TANDEM_BITWISE_OPS)

}  // namespace TANDEM_NS
