// A set of Variables in insertion order.
#pragma once
#include <vector>

#include "tandem/core/variable.hpp"
#include "tandem/util/id_map.hpp"

namespace TANDEM_NS {
namespace detail {

class VariableSet {
 public:
  bool contains(const Variable& v) const { return indices_.find(v.id()) >= 0; }
  /// The index of v; appends it if it is new.
  std::size_t index_of(const Variable& v) {
    if (const int at = indices_.find(v.id()); at >= 0) return static_cast<std::size_t>(at);
    indices_.make_room();
    list_.push_back(v);
    indices_.insert(v.id(), static_cast<int>(list_.size()) - 1);
    return list_.size() - 1;
  }
  void insert(const Variable& v) { index_of(v); }
  const std::vector<Variable>& list() const { return list_; }
  std::vector<Variable> take() && { return std::move(list_); }

 private:
  IdMap indices_;  // by Variable id
  std::vector<Variable> list_;
};

}  // namespace detail
}  // namespace TANDEM_NS
