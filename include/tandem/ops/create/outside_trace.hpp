// A guard for what is made at once even while a function is traced. Values that a trace needs only at call time are
// ops.
#pragma once
#include "tandem/core/apply.hpp"

namespace TANDEM_NS {

namespace detail {
// Constants are made at once, even while a function is traced: it captures their values.
class OutsideTrace {
 public:
  OutsideTrace() : stager_(context.stager), observers_(context.observers) {
    context.stager = nullptr;
    context.observers = nullptr;
  }
  OutsideTrace(const OutsideTrace&) = delete;
  ~OutsideTrace() {
    context.stager = stager_;
    context.observers = observers_;
  }
  /// Tells the trace of a constant that the user named.
  Tensor named(Tensor t, Name name, Loc where) const {
    if (stager_ && name) stager_->constant(t, {name, where});
    return t;
  }

 private:
  Stager* stager_;
  Observer* observers_;
};
}  // namespace detail

}  // namespace TANDEM_NS
