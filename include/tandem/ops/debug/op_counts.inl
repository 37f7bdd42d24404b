// Definitions of ops/debug/op_counts.hpp.
#pragma once
#include "tandem/base/error.hpp"
#include "tandem/core/apply.hpp"
#include "tandem/ops/debug/op_counts.hpp"
#include "tandem/util/lean_vector.hpp"

namespace TANDEM_NS::debugging {
namespace impl {

// Counts the ops of its thread.
class OpCounter final : public Observer {
 public:
  OpCounter() { every_op = true; }
  ~OpCounter() {
    if (active) detail::unobserve(*this);
  }
  bool active = false;
  std::map<const OpDef*, long long> counts;

  void record(const Applied& a) override { ++counts[&a.op]; }
  void read(const Variable&, const Tensor&) override {}
  void dropped() override { active = false; }
};
TANDEM_INLINE OpCounter& op_counter() {
  static thread_local OpCounter counter;
  return counter;
}

}  // namespace impl

TANDEM_INLINE void enable_op_counts() {
  impl::OpCounter& counter = impl::op_counter();
  if (counter.active) return;
  if (context.stager)
    errors::raise<errors::FailedPreconditionError>(
        "enable_op_counts", "cannot be enabled while a function is traced: enable it around the calls");
  counter.counts.clear();
  detail::observe(counter);
  counter.active = true;
}
TANDEM_INLINE void disable_op_counts() {
  if (impl::op_counter().active && !detail::unobserve(impl::op_counter()))
    errors::raise<errors::FailedPreconditionError>(
        "disable_op_counts",
        "cannot be disabled in a traced function or where ops are not recorded, such as in a custom gradient: disable "
        "it where it was enabled");
}
TANDEM_INLINE std::map<std::string, long long> op_counts() {
  std::map<std::string, long long> r;
  for (const auto& [op, n] : impl::op_counter().counts) r[op->name] += n;
  return r;
}

}  // namespace TANDEM_NS::debugging
