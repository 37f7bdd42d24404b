// Definitions of ops/pointwise/bitwise.hpp.
#pragma once
#include "tandem/ops/pointwise/bitwise.hpp"
#include "tandem/ops/pointwise/define.hpp"
#include "tandem/util/scalar_math.hpp"

namespace TANDEM_NS::rules {

struct bitwise_and_rule : Binary<dtypes::integer, Saves::nothing, non_differentiable | commutative> {
  template <class V>
  static TANDEM_HD V forward(V a, V b) {
    return a & b;
  }
};
struct bitwise_or_rule : Binary<dtypes::integer, Saves::nothing, non_differentiable | commutative> {
  template <class V>
  static TANDEM_HD V forward(V a, V b) {
    return a | b;
  }
};
struct bitwise_xor_rule : Binary<dtypes::integer, Saves::nothing, non_differentiable | commutative> {
  template <class V>
  static TANDEM_HD V forward(V a, V b) {
    return a ^ b;
  }
};
struct invert_rule : Unary<dtypes::integer, Saves::nothing, non_differentiable> {
  template <class V>
  static TANDEM_HD V forward(V x) {
    return ~x;
  }
};
template <class V>
TANDEM_HD V shift_amount(V n) {
  return min(max(n, V(0)), V(8 * sizeof(lane_t<V>) - 1));
}
struct left_shift_rule : Binary<dtypes::integer, Saves::nothing, non_differentiable> {
  static constexpr const char* input_names = "a, n";
  static constexpr bool reads_width = true;
  template <class V>
  static TANDEM_HD V forward(V a, V n) {
    return a << shift_amount(n);
  }
};
struct right_shift_rule : Binary<dtypes::integer, Saves::nothing, non_differentiable> {
  static constexpr const char* input_names = "a, n";
  static constexpr bool reads_width = true;
  template <class V>
  static TANDEM_HD V forward(V a, V n) {
    return a >> shift_amount(n);
  }
};
struct population_count_rule : Unary<dtypes::integer, Saves::nothing, non_differentiable | lanewise> {
  static Specs infer(const InferCall& c) {
    Spec s = c.spec(0);
    s.dtype = DType::uint8;
    return s;
  }
  static constexpr bool reads_width = true;
  template <class V>
  static TANDEM_HD std::uint8_t forward(V x) {
    std::uint8_t n = 0;
    for (u64 rest = static_cast<u64>(x) & (~u64(0) >> (64 - 8 * sizeof(V))); rest; rest &= rest - 1) ++n;
    return n;
  }
};

}  // namespace TANDEM_NS::rules

namespace TANDEM_NS {
TANDEM_DEFINE_OPS(TANDEM_BITWISE_OPS)
namespace bitwise {
TANDEM_DEFINE_FUNCTIONS(TANDEM_BITWISE_OPS)
}
}  // namespace TANDEM_NS
