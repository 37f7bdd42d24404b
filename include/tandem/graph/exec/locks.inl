// VariableLocks: the Variables that a program assigns are locked while it runs.
#pragma once
#include <algorithm>
#include <functional>

#include "tandem/graph/exec/program.hpp"

namespace TANDEM_NS {

TANDEM_INLINE detail::CallValues*& detail::call_values() {
  static constinit thread_local CallValues* innermost = nullptr;
  return innermost;
}
TANDEM_INLINE VariableLocks*& VariableLocks::held_locks() {
  static constinit thread_local VariableLocks* innermost = nullptr;
  return innermost;
}
TANDEM_INLINE bool VariableLocks::contains(Span<const Variable> sorted, const Variable& v) {
  const auto less = [](const Variable& a, const Variable& b) {
    return std::less<>()(VariableAccess::address(a), VariableAccess::address(b));
  };
  return std::binary_search(sorted.begin(), sorted.end(), v, less);
}
TANDEM_INLINE bool VariableLocks::has(const Variable& v) const {
  return contains(sorted_, v) || (outer_ && outer_->has(v));
}
TANDEM_INLINE void VariableLocks::lock() {
  for (const Variable& v : sorted_)
    if (!outer_ || !outer_->has(v)) VariableAccess::lock(v);
}
TANDEM_INLINE void VariableLocks::unlock() {
  for (const Variable& v : sorted_)
    if (!outer_ || !outer_->has(v)) VariableAccess::unlock(v);
}
TANDEM_INLINE VariableLocks::~VariableLocks() {
  held_locks() = outer_;
  std::optional<detail::ReplacedSets::Scope> scope;
  if (sorted_.size() > 1) scope.emplace(detail::stepped_sets);
  unlock();
}

}  // namespace TANDEM_NS
