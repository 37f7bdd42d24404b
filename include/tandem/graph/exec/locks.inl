// VariableLocks: the Variables that a program assigns are locked while it runs.
#pragma once
#include <algorithm>
#include <optional>
#include <thread>

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
TANDEM_INLINE const Variable* detail::find_variable(Span<const Variable> sorted, const Variable& v) {
  const Variable* const at = std::lower_bound(sorted.begin(), sorted.end(), v, &VariableAccess::is_before);
  return at != sorted.end() && at->is_same(v) ? at : nullptr;
}
TANDEM_INLINE const Tensor* detail::CallValues::find(const Variable& v) const {
  const Variable* const at = find_variable(sorted_, v);
  return at ? &values_[static_cast<std::size_t>(at - sorted_.begin())] : nullptr;
}
TANDEM_INLINE bool VariableLocks::contains(Span<const Variable> sorted, const Variable& v) {
  return detail::find_variable(sorted, v) != nullptr;
}
TANDEM_INLINE void VariableLocks::yield() { std::this_thread::yield(); }
TANDEM_INLINE bool VariableLocks::has(const Variable& v) const {
  return contains(sorted_, v) || (outer_ && outer_->has(v));
}
TANDEM_INLINE void VariableLocks::lock() {
  is_any_taken_ = false;
  for (const Variable& v : sorted_) {
    if (outer_ && outer_->has(v)) continue;
    VariableAccess::lock(v);
    is_any_taken_ = true;
  }
}
TANDEM_INLINE void VariableLocks::unlock() {
  for (const Variable& v : sorted_)
    if (!outer_ || !outer_->has(v)) VariableAccess::unlock(v);
}
TANDEM_INLINE VariableLocks::~VariableLocks() {
  held_locks() = outer_;
  std::optional<detail::ReplacedSets::Scope> scope;
  if (is_any_taken_ && sorted_.size() > 1) scope.emplace(detail::stepped_sets);
  unlock();
}

}  // namespace TANDEM_NS
