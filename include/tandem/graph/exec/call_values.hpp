// CallValues: what a call has read of the Variables that its bodies of control flow read, so that all of them see one
// set of values. For the definitions of graph/exec.
#pragma once
#include "tandem/core/variable.hpp"
#include "tandem/graph/lazy.hpp"
#include "tandem/util/inlined_vector.hpp"

namespace TANDEM_NS::detail {

class CallValues;
/// Those of the innermost call of this thread that has any.
CallValues*& call_values();

/// Where a Variable is among others that are sorted by address; null if it is not there.
const Variable* find_variable(Span<const Variable> sorted, const Variable& v);

/// While it exists, bodies that this thread runs read its values in place of the Variables.
class CallValues {
 public:
  ///   sorted  by address; none: bodies read what they would without it
  explicit CallValues(Span<const Variable> sorted) : sorted_(sorted), outer_(call_values()) {}
  CallValues(const CallValues&) = delete;
  ~CallValues() { call_values() = outer_; }
  /// Reads all, again if it has before.
  void read() {
    if (sorted_.empty()) return;
    values_.clear();
    call_values() = outer_;
    for (const Variable& v : sorted_) values_.push_back(value_of(v));
    call_values() = this;
  }
  /// The value of a Variable for the call that runs.
  static Tensor value_of(const Variable& v) {
    for (const CallValues* c = call_values(); c; c = c->outer_)
      if (const Tensor* const t = c->find(v)) return *t;
    return v.value_untracked();
  }

 private:
  const Tensor* find(const Variable& v) const;

  const Span<const Variable> sorted_;
  CallValues* const outer_;
  InlinedVector<Tensor, 8, memory::Blocks> values_;
};

}  // namespace TANDEM_NS::detail
