// debugging::StrictShapes: a scope in which shapes are not broadcast or reduced by accident.
#pragma once
#include "tandem/core/context.hpp"

namespace TANDEM_NS::debugging {

/// Checks shapes strictly on this thread, for a scope: auto strict = debugging::StrictShapes(). In it,
/// errors::InvalidArgumentError is raised if
///   - an element-wise op broadcasts operands of different ranks, neither of which is a scalar: [2,1] + [2];
///   - a reduction or squeeze of rank >= 2 has no axis.
/// The scope applies to the ops that a program calls, also while a function is traced, not to those that a function of
/// the library consists of, nor to gradients.
class [[nodiscard]] StrictShapes {
 public:
  StrictShapes() : checks_(true) {}

 private:
  tandem::detail::ShapeChecks checks_;
};

}  // namespace TANDEM_NS::debugging
