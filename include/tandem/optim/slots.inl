// Definitions of optim/slots.hpp.
#pragma once
#include "tandem/ops/cast.hpp"
#include "tandem/ops/create/fill.hpp"
#include "tandem/optim/slots.hpp"

namespace TANDEM_NS::detail {

TANDEM_INLINE Tensor zeros_beside(const Tensor& value, const Shape& shape, DType dtype) {
  const DeviceScope there(value.device());
  return zeros(shape, {.dtype = dtype});
}
TANDEM_INLINE std::vector<Module::Named> Slots::make(const Variable& weight, Span<const SlotKind> kinds) const {
  std::vector<Module::Named> slots;
  auto make = [&] {
    const Unobserved quiet;
    const Tensor value = weight.value_untracked();
    const DType dtype = slot_dtype(value.dtype());
    for (const SlotKind& kind : kinds) {
      const std::string name = "slot_" + std::to_string(states_.size()) + "_" + kind.name;
      const Tensor initial = kind.is_copy        ? cast(value, dtype)
                             : kind.shape        ? zeros_beside(value, kind.shape(value.shape()), dtype)
                             : kind.initial != 0 ? full_like(value, kind.initial, {.dtype = dtype})
                                                 : zeros_like(value, dtype);
      slots.push_back({name,
                       Variable(initial, {.name = name.c_str(),
                                          .trainable = false,
                                          .aggregate = weight.aggregate(),
                                          .whole_rows = weight.whole_rows()}),
                       weight, kind.name});
    }
  };
  if (context.stager)
    TANDEM_VIRTUAL(*context.stager, Stager::lift)({[](void* f) { (*static_cast<decltype(make)*>(f))(); }, &make});
  else make();
  return slots;
}
TANDEM_INLINE std::vector<Variable> Slots::state_of(const Variable& weight, const std::vector<Module::Named>& slots) {
  std::vector<Variable> state{weight};
  for (const Module::Named& s : slots) state.push_back(s.variable);
  return state;
}
TANDEM_INLINE Span<const Variable> Slots::find(const Variable& weight) const {
  const std::lock_guard lock(mutex_);
  const int at = at_.find(weight.id());
  return at < 0 ? Span<const Variable>() : states_[static_cast<std::size_t>(at)];
}
TANDEM_INLINE std::vector<std::vector<Variable>> Slots::all() const {
  const std::lock_guard lock(mutex_);
  return {states_.begin(), states_.end()};
}

}  // namespace TANDEM_NS::detail
