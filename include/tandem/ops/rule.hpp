// What a pointwise rule says about itself, and the shape rule that all pointwise ops share.
#pragma once
#include "tandem/core/apply.hpp"

namespace TANDEM_NS {

namespace rules {

struct Info {
  const char* name;
  int arity;
  DTypes dtypes;
  Saves saves;
  bool lanewise = false;       // runs one lane at a time on std functions, until it has a pack form
  bool first_is_mask = false;  // input 0 is bool_, the others share a dtype (select)
  bool blocked = false;        // no gradient by definition
  bool own_width = false;      // depends on the dtype's width: half precision is not computed in float32
};
// What rules compute in; half precision passes through float32 tiles.
inline constexpr DTypes floats = dtypes::floating | dtypes::half_floating;
inline constexpr DTypes reals = dtypes::real | dtypes::half_floating;
inline constexpr DTypes numbers = dtypes::number | dtypes::half_floating;
constexpr Info unary(const char* name, DTypes d, Saves s) { return {name, 1, d, s}; }
constexpr Info binary(const char* name, DTypes d, Saves s) { return {name, 2, d, s}; }

}  // namespace rules

/// Broadcasts from the trailing axis: two sizes agree when equal or one of them is 1; open dims agree with anything.
///   throws  errors::InvalidArgumentError naming the op and both specs
TANDEM_API Shape broadcast_shape(const InferCall& c, const Shape& a, const Shape& b);
/// Broadcast shape of all inputs, whose dtypes must agree; the result is bool_ where `to_bool`.
TANDEM_API Specs infer_pointwise(const InferCall& c, const rules::Info& info, bool to_bool);

/// The ops of a file, for look-up by name and for the check that a called rule is listed.
template <class... R>
struct RuleList {
  template <class Q>
  static constexpr bool has = (std::is_same_v<Q, R> || ...);
};

}  // namespace TANDEM_NS
