// Definitions of ops/pointwise/bitwise.hpp.
#pragma once
#include "tandem/ops/pointwise/bitwise.hpp"
#include "tandem/ops/pointwise/row.hpp"

namespace TANDEM_NS {
namespace detail {
TANDEM_INLINE Specs infer_population_count(const InferCall& c) {
  Spec s = c.spec(0);
  s.dtype = DType::uint8;
  return s;
}
constexpr OpDef population_count_row() {
  OpDef r = pointwise_row<rules::PopulationCount>();
  r.infer = &infer_population_count;
  return r;
}
}  // namespace detail

TANDEM_INLINE constexpr OpDef bitwise_and_op = pointwise_row<rules::BitwiseAnd>();
TANDEM_INLINE constexpr OpDef bitwise_or_op = pointwise_row<rules::BitwiseOr>();
TANDEM_INLINE constexpr OpDef bitwise_xor_op = pointwise_row<rules::BitwiseXor>();
TANDEM_INLINE constexpr OpDef invert_op = pointwise_row<rules::Invert>();
TANDEM_INLINE constexpr OpDef left_shift_op = pointwise_row<rules::LeftShift>();
TANDEM_INLINE constexpr OpDef right_shift_op = pointwise_row<rules::RightShift>();
TANDEM_INLINE constexpr OpDef population_count_op = detail::population_count_row();

namespace bitwise {
template <class R, class... T>
Tensor on_bits(const OpOptions& o, const T&... x) {
  return call<R, rules::bits>(o, x...);
}
TANDEM_INLINE Tensor bitwise_and(const Tensor& a, const Tensor& b, OpOptions o) {
  return on_bits<rules::BitwiseAnd>(o, a, b);
}
TANDEM_INLINE Tensor bitwise_or(const Tensor& a, const Tensor& b, OpOptions o) {
  return on_bits<rules::BitwiseOr>(o, a, b);
}
TANDEM_INLINE Tensor bitwise_xor(const Tensor& a, const Tensor& b, OpOptions o) {
  return on_bits<rules::BitwiseXor>(o, a, b);
}
TANDEM_INLINE Tensor invert(const Tensor& x, OpOptions o) { return on_bits<rules::Invert>(o, x); }
TANDEM_INLINE Tensor left_shift(const Tensor& a, const Tensor& n, OpOptions o) {
  return on_bits<rules::LeftShift>(o, a, n);
}
TANDEM_INLINE Tensor right_shift(const Tensor& a, const Tensor& n, OpOptions o) {
  return on_bits<rules::RightShift>(o, a, n);
}
TANDEM_INLINE Tensor population_count(const Tensor& x, OpOptions o) { return on_bits<rules::PopulationCount>(o, x); }
}  // namespace bitwise

}  // namespace TANDEM_NS
