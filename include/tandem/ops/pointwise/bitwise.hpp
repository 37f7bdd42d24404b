// Bits of integers, element by element, in namespace bitwise. The operators & | ^ ~: pointwise/compare.hpp.
#pragma once
#include "tandem/base/scalar_math.hpp"
#include "tandem/ops/pointwise/operand.hpp"
#include "tandem/ops/rule.hpp"

namespace TANDEM_NS {

namespace bitwise {
/// Bit by bit and, or, exclusive or, complement.
///   a, b      integers of one dtype; shapes that broadcast
///   returns   the broadcast shape, same dtype
///   throws    errors::UnimplementedError for other dtypes; errors::InvalidArgumentError if dtypes or shapes disagree
///   gradient  none (blocked)
TANDEM_API Tensor bitwise_and(const Tensor& a, const Tensor& b, OpOptions = {});
TANDEM_API Tensor bitwise_or(const Tensor& a, const Tensor& b, OpOptions = {});
TANDEM_API Tensor bitwise_xor(const Tensor& a, const Tensor& b, OpOptions = {});
TANDEM_API Tensor invert(const Tensor& x, OpOptions = {});
/// a shifted by n bits, n clamped to [0, bits - 1]; a right shift keeps the sign. Otherwise as bitwise_and.
TANDEM_API Tensor left_shift(const Tensor& a, const Tensor& n, OpOptions = {});
TANDEM_API Tensor right_shift(const Tensor& a, const Tensor& n, OpOptions = {});
/// The number of bits that are 1, as uint8. Otherwise as invert.
TANDEM_API Tensor population_count(const Tensor& x, OpOptions = {});
TANDEM_SCALAR_OVERLOADS(bitwise_and)
TANDEM_SCALAR_OVERLOADS(bitwise_or)
TANDEM_SCALAR_OVERLOADS(bitwise_xor)
TANDEM_SCALAR_OVERLOADS(left_shift)
TANDEM_SCALAR_OVERLOADS(right_shift)
}  // namespace bitwise

extern TANDEM_API const OpDef bitwise_and_op, bitwise_or_op, bitwise_xor_op, invert_op, left_shift_op, right_shift_op,
    population_count_op;

namespace rules {

constexpr Info on_bits(const char* name, int arity) {
  return {.name = name, .arity = arity, .dtypes = dtypes::integer, .saves = Saves::nothing, .blocked = true};
}
struct BitwiseAnd {
  static constexpr Info info = on_bits("bitwise_and", 2);
  static constexpr const OpDef& row = bitwise_and_op;
  template <class V>
  static TANDEM_HD V forward(V a, V b) {
    return a & b;
  }
};
struct BitwiseOr {
  static constexpr Info info = on_bits("bitwise_or", 2);
  static constexpr const OpDef& row = bitwise_or_op;
  template <class V>
  static TANDEM_HD V forward(V a, V b) {
    return a | b;
  }
};
struct BitwiseXor {
  static constexpr Info info = on_bits("bitwise_xor", 2);
  static constexpr const OpDef& row = bitwise_xor_op;
  template <class V>
  static TANDEM_HD V forward(V a, V b) {
    return a ^ b;
  }
};
struct Invert {
  static constexpr Info info = on_bits("invert", 1);
  static constexpr const OpDef& row = invert_op;
  template <class V>
  static TANDEM_HD V forward(V x) {
    return ~x;
  }
};
template <class V>
TANDEM_HD V shift_amount(V n) {
  return min(max(n, V(0)), V(8 * sizeof(lane_t<V>) - 1));
}
struct LeftShift {
  static constexpr Info info = on_bits("left_shift", 2);
  static constexpr const OpDef& row = left_shift_op;
  static constexpr bool reads_width = true;
  template <class V>
  static TANDEM_HD V forward(V a, V n) {
    return a << shift_amount(n);
  }
};
struct RightShift {
  static constexpr Info info = on_bits("right_shift", 2);
  static constexpr const OpDef& row = right_shift_op;
  static constexpr bool reads_width = true;
  template <class V>
  static TANDEM_HD V forward(V a, V n) {
    return a >> shift_amount(n);
  }
};
struct PopulationCount {
  static constexpr Info info = on_bits("population_count", 1);
  static constexpr const OpDef& row = population_count_op;
  static constexpr bool reads_width = true;
  static constexpr bool lanewise = true;
  template <class V>
  static TANDEM_HD std::uint8_t forward(V x) {
    std::uint8_t n = 0;
    for (u64 rest = static_cast<u64>(x) & (~u64(0) >> (64 - 8 * sizeof(V))); rest; rest &= rest - 1) ++n;
    return n;
  }
};
using bits = RuleList<BitwiseAnd, BitwiseOr, BitwiseXor, Invert, LeftShift, RightShift, PopulationCount>;

}  // namespace rules
}  // namespace TANDEM_NS
