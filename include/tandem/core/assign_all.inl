// Definitions of core/assign_all.hpp.
#pragma once
#include <algorithm>

#include "tandem/core/assign_all.hpp"
#include "tandem/core/scope.hpp"

namespace TANDEM_NS {

namespace detail {

TANDEM_INLINE constinit ReplacedSets assigned_sets{}, stepped_sets{};

// Variables in the order in which calls of graphs lock them, too.
struct SetOrder {
  /// throws  errors::InvalidArgumentError for a Variable that occurs twice
  explicit SetOrder(Span<const Variable> variables) {
    for (const Variable& v : variables) order.push_back(&v);
    std::sort(order.begin(), order.end(),
              [](const Variable* a, const Variable* b) { return VariableAccess::is_before(*a, *b); });
    for (unsigned i = 1; i < order.size(); ++i)
      if (order[i]->is_same(*order[i - 1]))
        errors::raise<errors::InvalidArgumentError>("assign_all",
                                                    "the variable '" + order[i]->name() + "' occurs twice");
  }
  InlinedVector<const Variable*, 8> order;
};
// Their locks, until the end of the scope.
class SetLocks {
 public:
  explicit SetLocks(const SetOrder& set) : set_(set) {
    for (const Variable* v : set_.order) VariableAccess::check_free(*v);
    for (const Variable* v : set_.order) VariableAccess::lock_in_turn(*v);
  }
  SetLocks(const SetLocks&) = delete;
  ~SetLocks() {
    for (const Variable* v : set_.order) VariableAccess::unlock(*v);
  }

 private:
  const SetOrder& set_;
};

TANDEM_INLINE void check_fits(const Variable& v, const Tensor& value) {
  if (v.dtype() != value.dtype() || !v.shape().is_compatible_with(value.shape()))
    errors::raise<errors::InvalidArgumentError>("assign_all", "variable '" + v.name() + "' is " + to_string(v.spec()) +
                                                                  ", but the value is " + to_string(value.spec()));
  if (!context.stager) check_value("assign_all", value);
}

}  // namespace detail

TANDEM_INLINE void assign_all(const std::vector<Variable>& variables, const std::vector<Tensor>& values) {
  if (variables.size() != values.size())
    errors::raise<errors::InvalidArgumentError>(
        "assign_all", std::to_string(values.size()) + " values for " + std::to_string(variables.size()) + " variables");
  InlinedVector<Tensor, 8> next;  // then the old values, which are destroyed when the locks are released
  for (std::size_t i = 0; i < values.size(); ++i) {
    detail::check_fits(variables[i], values[i]);
    next.push_back(values[i].device() == variables[i].device() ? values[i] : values[i].to(variables[i].device()));
  }
  const detail::SetOrder set(variables);
  if (context.stager) {
    for (std::size_t i = 0; i < values.size(); ++i) variables[i].assign(next[i]);
    return;
  }
  const detail::SetLocks locks(set);
  const detail::ReplacedSets::Scope scope(detail::assigned_sets);
  for (std::size_t i = 0; i < values.size(); ++i) {
    Tensor& value = VariableAccess::value(variables[i]);
    std::swap(value, next[i]);
    value.keep_packed_forms();
  }
}

}  // namespace TANDEM_NS
