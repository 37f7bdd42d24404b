// For values that are computed immediately even while a function is traced: a guard, and their allocation. Values that
// a trace needs only at call time are ops instead.
#pragma once
#include "tandem/core/apply.hpp"

namespace TANDEM_NS {

namespace detail {
// Suspends tracing for the scope: constants are created immediately, and the trace captures their values.
class OutsideTrace {
 public:
  OutsideTrace() : stager_(context.stager), observers_(context.observers) {
    context.stager = nullptr;
    context.observers = nullptr;
  }
  OutsideTrace(const OutsideTrace&) = delete;
  ~OutsideTrace() {
    context.stager = stager_;
    restore_observers(observers_);
  }
  /// Reports a constant that the user named to the trace.
  Tensor named(Tensor t, Name name, SourceLocation where) const {
    if (stager_ && name) TANDEM_VIRTUAL(*stager_, Stager::constant)(t, {name, where});
    return t;
  }

 private:
  Stager* stager_;
  Observer* observers_;
};

/// Allocates a host tensor. `what` names the function in errors: a negative or unknown size, or one that no memory
/// holds.
TANDEM_API Tensor allocate_for(const char* what, const Shape& shape, DType dtype);
}  // namespace detail

}  // namespace TANDEM_NS
