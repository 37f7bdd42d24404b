// Slots: the Variables that optimizers and weight averages keep for each weight.
#pragma once
#include <deque>
#include <mutex>
#include <string>
#include <vector>

#include "tandem/base/span.hpp"
#include "tandem/core/scope.hpp"
#include "tandem/module/module.hpp"
#include "tandem/util/id_map.hpp"
#include "tandem/util/lean_vector.hpp"

namespace TANDEM_NS::detail {

/// The dtype of the slots of a weight: sums of small numbers need more digits than half precision has.
constexpr DType slot_dtype(DType weight) { return dtypes::half_floating.has(weight) ? DType::float32 : weight; }

/// A kind of slot: its name in checkpoints, and the value that it begins with.
struct SlotKind {
  const char* name;
  double initial = 0;
  bool is_copy = false;                           ///< begins with the weight's value
  Shape (*shape)(const Shape& weight) = nullptr;  ///< if it is not the weight's
};

/// Slot Variables, indexed by the id of their weight.
class TANDEM_API Slots final : public Opaque {
 public:
  const char* kind() const override { return "slots"; }
  /// Returns the weight and its slots, which are created at first use: all of them or, if anything raises, none.
  /// add(named) makes them Variables of a module; outside of tapes and traces.
  template <class Add>
  Span<const Variable> of(const Variable& weight, Span<const SlotKind> kinds, const Add& add) {
    const std::lock_guard lock(mutex_);
    if (const int at = at_.find(weight.id()); at >= 0) return states_[static_cast<std::size_t>(at)];
    const int at = static_cast<int>(states_.size());
    const std::vector<Module::Named> slots = make(weight, kinds);
    at_.make_room();
    states_.push_back(state_of(weight, slots));
    try {
      add(slots);
    } catch (...) {
      states_.pop_back();
      throw;
    }
    at_.insert(weight.id(), at);
    return states_.back();
  }
  /// The weight and its slots, or nothing if it has none.
  Span<const Variable> find(const Variable& weight) const;
  /// All weights with their slots, in the order in which they were first used.
  std::vector<std::vector<Variable>> all() const;

 private:
  std::vector<Module::Named> make(const Variable& weight, Span<const SlotKind> kinds) const;
  static std::vector<Variable> state_of(const Variable& weight, const std::vector<Module::Named>& slots);

  mutable std::mutex mutex_;
  IdMap at_;
  LeanVector<std::vector<Variable>> states_;  // each: the weight, then its slots
};

}  // namespace TANDEM_NS::detail
