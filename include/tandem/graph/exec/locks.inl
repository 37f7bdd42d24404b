// VariableLocks: the Variables that a program assigns are locked while it runs.
#pragma once
#include <algorithm>
#include <optional>
#include <thread>

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
TANDEM_INLINE void VariableLocks::yield() { std::this_thread::yield(); }
TANDEM_INLINE bool VariableLocks::has(const Variable& v) const {
  return contains(sorted_, v) || (outer_ && outer_->has(v));
}
TANDEM_INLINE void VariableLocks::let_readers_pass() const {
  if (outer_) return;
  const auto waits = [](const Variable& v) { return VariableAccess::has_waiting_readers(v); };
  if (std::none_of(sorted_.begin(), sorted_.end(), waits)) return;
  constexpr i64 most = 1'000'000;  // nanoseconds: another thread may have the lock
  const i64 end = detail::nanoseconds_now() + most;
  while (detail::nanoseconds_now() < end && std::any_of(sorted_.begin(), sorted_.end(), waits)) yield();
}
TANDEM_INLINE void VariableLocks::lock() {
  is_any_taken_ = false;
  for (const Variable& v : sorted_) {
    if (outer_ && outer_->has(v)) continue;
    VariableAccess::lock(v);
    is_any_taken_ = true;
  }
}
// Waits for long only while it holds nothing: the host function of a step that has a lock may wait for one of these.
TANDEM_INLINE void VariableLocks::lock_all(Span<const Variable> only_read) {
  is_any_taken_ = !sorted_.empty();
  InlinedVector<const Variable*, 16> all;
  for (const Variable& v : sorted_) all.push(&v);
  for (const Variable& v : only_read) all.push(&v);
  std::sort(all.begin(), all.end(),
            [](const Variable* a, const Variable* b) { return VariableAccess::is_before(*a, *b); });
  constexpr i64 most = 10'000'000;  // nanoseconds
  for (unsigned taken = 0; taken < all.size();) {
    const Variable& v = *all[taken];
    if (taken == 0) {
      VariableAccess::lock_to_read(v);
    } else if (!VariableAccess::try_lock_to_read(v, most)) {
      while (taken > 0) VariableAccess::unlock(*all[--taken]);
      VariableAccess::lock_to_read(v);
      VariableAccess::unlock(v);
      continue;
    }
    ++taken;
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
