// The error of composites whose operands do not fit.
#pragma once
#include "tandem/core/apply.hpp"

namespace TANDEM_NS::detail {

/// Raises errors::InvalidArgumentError: what was wrong, and the specs of both operands.
[[noreturn]] inline void raise_operands(const char* op, const std::string& what, const Tensor& a, const Tensor& b) {
  errors::raise<errors::InvalidArgumentError>(op, what + ": " + to_string(a.spec()) + " x " + to_string(b.spec()));
}

}  // namespace TANDEM_NS::detail
