// What a pointwise rule says about itself, the shape rule that all pointwise ops share, and lists of ops.
#pragma once
#include "tandem/core/apply.hpp"

namespace TANDEM_NS {

namespace rules {

struct Info {
  int arity;
  DTypes dtypes;
  Saves saves;
  bool lanewise, first_is_mask, blocked, own_width;
};
enum RuleFlags : unsigned {
  no_flags = 0,
  lanewise = 1,            // runs one lane at a time on std functions, until it has a pack form
  takes_mask_first = 2,    // input 0 is bool_, the others share a dtype (select)
  non_differentiable = 4,  // the gradient stops here by definition
  own_width = 8            // depends on the dtype's width: half precision is not computed in float32
};
constexpr RuleFlags operator|(RuleFlags a, RuleFlags b) { return static_cast<RuleFlags>(unsigned(a) | unsigned(b)); }

/// The base of a rule: number of inputs, their dtypes, what the gradient reads.
template <int Arity, DTypes D, Saves S, RuleFlags F = no_flags>
struct Rule {
  static constexpr Info info{Arity,
                             D,
                             S,
                             (F & rules::lanewise) != 0,
                             (F & takes_mask_first) != 0,
                             (F & non_differentiable) != 0,
                             (F & rules::own_width) != 0};
};
template <DTypes D, Saves S, RuleFlags F = no_flags>
using Unary = Rule<1, D, S, F>;
template <DTypes D, Saves S, RuleFlags F = no_flags>
using Binary = Rule<2, D, S, F>;

// What rules compute in; half precision passes through float32 tiles.
inline constexpr DTypes floats = dtypes::floating | dtypes::half_floating;
inline constexpr DTypes reals = dtypes::real | dtypes::half_floating;
inline constexpr DTypes numbers = dtypes::number | dtypes::half_floating;

}  // namespace rules

/// Broadcasts from the trailing axis: two sizes agree when equal or one of them is 1; open dims agree with anything.
///   throws  errors::InvalidArgumentError naming the op and both specs
TANDEM_API Shape broadcast_shape(const InferCall& c, const Shape& a, const Shape& b);
/// Broadcast shape of all inputs, whose dtypes must agree; the result is bool_ where `to_bool`.
TANDEM_API Specs infer_pointwise(const InferCall& c, const rules::Info& info, bool to_bool);

}  // namespace TANDEM_NS

/// Declares the OpDefs of a list of pointwise ops, and the array `name` of them for the op table.
#define TANDEM_DECLARE_OPS(name, list)                                                                \
  list(TANDEM_EXTERN_OP, TANDEM_EXTERN_OP, TANDEM_EXTERN_OP) inline constexpr const OpDef* name[] = { \
      list(TANDEM_OP_ADDRESS, TANDEM_OP_ADDRESS, TANDEM_OP_ADDRESS)};
#define TANDEM_EXTERN_OP(op) extern TANDEM_API const OpDef op##_op;
#define TANDEM_OP_ADDRESS(op) &op##_op,
