// VariableLocks: the Variables that a program assigns are locked while it runs.
#pragma once
#include <sched.h>

#include <algorithm>
#include <optional>

#include "tandem/graph/exec/program.hpp"
#include "tandem/util/threads.hpp"

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
TANDEM_INLINE bool VariableLocks::has(const Variable& v) const { return contains(sorted_, v) || is_outers(v); }
TANDEM_INLINE bool VariableLocks::holds_any(const VariableLocks* innermost) {
  for (const VariableLocks* l = innermost; l; l = l->outer_)
    if (l->is_any_taken_) return true;
  return false;
}
TANDEM_INLINE void VariableLocks::yield() { sched_yield(); }
TANDEM_INLINE void VariableLocks::let_others_pass() const {
  const auto waits = [](const Variable& v) { return VariableAccess::has_waiting(v); };
  if (std::none_of(sorted_.begin(), sorted_.end(), waits)) return;
  constexpr i64 most = 1'000'000;  // nanoseconds: another thread may have the lock
  const i64 end = detail::nanoseconds_now() + most;
  while (detail::nanoseconds_now() < end && std::any_of(sorted_.begin(), sorted_.end(), waits)) yield();
}
TANDEM_INLINE void VariableLocks::lock() {
  is_any_taken_ = false;
  for (const Variable& v : sorted_) {
    if (is_outers(v)) continue;
    VariableAccess::lock(v);
    is_any_taken_ = true;
  }
}
// Who holds one of these may wait, in a host function, for what this thread holds. So it waits without a bound only
// where it holds nothing, and for what it could not have, then for the others.
TANDEM_INLINE void VariableLocks::lock_all(Span<const Variable> only_read) {
  InlinedVector<const Variable*, 16> all;
  for (const Span<const Variable> some : {sorted_, only_read})
    for (const Variable& v : some)
      if (!is_outers(v)) all.push_back(&v);
  is_any_taken_ = std::any_of(sorted_.begin(), sorted_.end(), [&](const Variable& v) { return !is_outers(v); });
  const bool holds = holds_any(outer_);
  const unsigned n = all.size();
  unsigned first = 0;
  for (i64 most = 1'000'000;; most *= 2) {  // nanoseconds: longer than the others' step, in the end
    unsigned taken = 0;
    const auto next = [&] { return (first + taken) % n; };
    if (n > 0 && !holds) VariableAccess::lock_in_turn(*all[next()]), ++taken;
    while (taken < n && VariableAccess::try_lock_in_turn(*all[next()], most)) ++taken;
    if (taken == n) return;
    const unsigned failed = next();
    while (taken > 0) --taken, VariableAccess::unlock(*all[next()]);
    first = failed;
  }
}
TANDEM_INLINE void VariableLocks::unlock() {
  for (const Variable& v : sorted_)
    if (!is_outers(v)) VariableAccess::unlock(v);
}
TANDEM_INLINE VariableLocks::~VariableLocks() {
  held_locks() = outer_;
  std::optional<detail::ReplacedSets::Scope> scope;
  if (is_any_taken_ && sorted_.size() > 1) scope.emplace(detail::stepped_sets);
  unlock();
}

}  // namespace TANDEM_NS
