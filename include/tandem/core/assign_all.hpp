// assign_all: replaces the values of several Variables as one set, for functions that other threads call meanwhile.
#pragma once
#include <atomic>
#include <vector>

#include "tandem/core/variable.hpp"

namespace TANDEM_NS {

/// Assigns several Variables as one set: assign_all({w, b}, {new_w, new_b}). A call of a traced function that another
/// thread makes meanwhile sees all of the old values or all of the new ones, also in the bodies of control flow, and is
/// neither traced again nor delayed. Two exceptions: what a graph reads after one of its host functions, and in bodies
/// of a graph that has any, is read when it gets there. Eager code reads each Variable by itself.
///   variables  each at most once
///   values     one for each Variable, of its shape and dtype; copied to its device
///   throws     errors::InvalidArgumentError for another number of values, a Variable that occurs twice, and values of
///              another shape or dtype; errors::FailedPreconditionError in a host function of a graph that assigns one
///              of the Variables. Then none has changed
TANDEM_API void assign_all(const std::vector<Variable>& variables, const std::vector<Tensor>& values);

namespace detail {

/// Counts sets of Variables that are replaced: who reads several tells by it whether it has read one set.
struct ReplacedSets {
  std::atomic<u64> begun{0}, ended{0};
  /// From before the first Variable of a set can be read until all of them can.
  class Scope {
   public:
    explicit Scope(ReplacedSets& s) : sets_(s) { sets_.begun.fetch_add(1); }
    Scope(const Scope&) = delete;
    ~Scope() { sets_.ended.fetch_add(1); }

   private:
    ReplacedSets& sets_;
  };
  /// What is_still() compares with: to be called before the first read.
  u64 mark() const { return ended.load(); }
  /// Whether no set was replaced, not even in part, since the mark.
  bool is_still(u64 mark) const { return begun.load() == mark; }
};
/// By assign_all, and by calls of traced functions that assign several Variables.
extern TANDEM_API constinit ReplacedSets assigned_sets, stepped_sets;

}  // namespace detail
}  // namespace TANDEM_NS
