// Checks for NaN and infinity: of one tensor, and of the results of all ops of a thread. Not here: assert_all_finite
// (assert.hpp).
#pragma once
#include <string>

#include "tandem/core/apply.hpp"

namespace TANDEM_NS {
namespace debugging {

struct CheckNumericsOptions {
  TANDEM_OP_OPTIONS;
};

/// Returns x, after checking that it contains neither NaN nor infinity. In a traced function the check runs at every
/// call, whether or not its result is used.
///   x         floating or complex; any shape, any device (only one byte is copied from a GPU that holds finite values)
///   message   the error message starts with it
///   throws    errors::InvalidArgumentError with the index and value of the first such element and their number;
///             errors::UnimplementedError for other dtypes. Of a tensor on a GPU in a traced function, at the next wait
///   gradient  g, checked in the same way
TANDEM_API Tensor check_numerics(const Tensor& x, std::string message, CheckNumericsOptions = {});

/// Checks the floating and complex results of every op that this thread runs from now on, those of gradients
/// included. The first NaN or infinity raises errors::InvalidArgumentError, which names the op, its operands, the
/// element and the source line, and "in the gradient of Sqrt" if it arose there. Enabling it twice has no further
/// effect; other threads are not affected.
///
/// Traced functions run op by op while it is on, also those that were traced before; the error names the node. The
/// bodies of while_loop, cond and scan run as one op, and integers are not checked. When it is off it costs nothing.
/// Updates of Variables are checked before they happen. Within code whose ops are not recorded (the function of a
/// custom_gradient, of which the value is checked, or of a host_function) only checks that are enabled there happen,
/// and they end with that code.
///   throws  errors::FailedPreconditionError in a function that is being traced
TANDEM_API void enable_check_numerics();
/// Ends the checks of this thread; no effect if they are off.
///   throws  errors::FailedPreconditionError where ops are not recorded, or in a function that is being traced, if the
///           checks were enabled outside of it
TANDEM_API void disable_check_numerics();
TANDEM_API bool is_check_numerics_enabled();
namespace impl {
/// Ends the checks; false if they are on but cannot be ended here.
TANDEM_API bool end_check_numerics() noexcept;
}  // namespace impl

/// Enables the checks for a scope:
///   { const debugging::CheckNumericsScope trap;  train_step(); }
class CheckNumericsScope {
 public:
  [[nodiscard]] CheckNumericsScope() : outer_(is_check_numerics_enabled()) { enable_check_numerics(); }
  CheckNumericsScope(const CheckNumericsScope&) = delete;
  CheckNumericsScope& operator=(const CheckNumericsScope&) = delete;
  ~CheckNumericsScope() {
    if (!outer_) impl::end_check_numerics();
  }

 private:
  const bool outer_;
};

}  // namespace debugging

namespace rules {
struct CheckNumericsAttrs {
  std::string message;
  TANDEM_ATTRS(CheckNumericsAttrs, message);
};
}  // namespace rules
TANDEM_OPS(check_numerics_ops, check_numerics)

}  // namespace TANDEM_NS
