// The static properties of pointwise rules, the shape rule that all pointwise ops share, and the declaration of op
// lists.
#pragma once
#include "tandem/core/apply.hpp"

namespace TANDEM_NS {

namespace rules {

struct Info {
  int arity;
  DTypes dtypes;
  Saves saves;
  bool lanewise, first_is_mask, non_differentiable, own_width, commutative;
};
enum RuleFlags : unsigned {
  no_flags = 0,
  lanewise = 1,            // computed one lane at a time with std functions; no pack implementation yet
  takes_mask_first = 2,    // input 0 is bool_, the others share a dtype (select)
  non_differentiable = 4,  // no gradient by definition
  own_width = 8,           // the result depends on the dtype's width: half precision is not computed in float32
  commutative = 16         // f(a, b) and f(b, a) are equal
};
constexpr RuleFlags operator|(RuleFlags a, RuleFlags b) { return static_cast<RuleFlags>(unsigned(a) | unsigned(b)); }

/// The base of a rule: the number of inputs, their dtypes, and which values the gradient reads.
template <int Arity, DTypes D, Saves S, RuleFlags F = no_flags>
struct Rule {
  static constexpr Info info{Arity,
                             D,
                             S,
                             (F & rules::lanewise) != 0,
                             (F & takes_mask_first) != 0,
                             (F & non_differentiable) != 0,
                             (F & rules::own_width) != 0,
                             (F & rules::commutative) != 0};
};
template <DTypes D, Saves S, RuleFlags F = no_flags>
using Unary = Rule<1, D, S, F>;
template <DTypes D, Saves S, RuleFlags F = no_flags>
using Binary = Rule<2, D, S, F>;

// The dtypes that rules compute in. Half precision is computed in float32 tiles.
inline constexpr DTypes floats = dtypes::floating | dtypes::half_floating;
inline constexpr DTypes reals = dtypes::real | dtypes::half_floating;
inline constexpr DTypes numbers = dtypes::number | DType::complex128 | dtypes::half_floating;

}  // namespace rules

/// Broadcasts two shapes from the trailing axis: two sizes are compatible if they are equal or one of them is 1.
/// Unknown dimensions are compatible with any size.
///  throws  errors::InvalidArgumentError naming the op and both specs
TANDEM_API Shape broadcast_shape(const InferCall& c, const Shape& a, const Shape& b);
/// Infers a pointwise op's result: the broadcast shape of all inputs, whose dtypes must match. The result is bool_
/// if `to_bool`.
TANDEM_API Specs infer_pointwise(const InferCall& c, const rules::Info& info, bool to_bool);

}  // namespace TANDEM_NS

/// Declares the OpDefs of a list of pointwise ops, and the array `name` of pointers to them for the op table.
#define TANDEM_DECLARE_OPS(name, list)                                                                \
  list(TANDEM_EXTERN_OP, TANDEM_EXTERN_OP, TANDEM_EXTERN_OP) inline constexpr const OpDef* name[] = { \
      list(TANDEM_OP_ADDRESS, TANDEM_OP_ADDRESS, TANDEM_OP_ADDRESS)};
