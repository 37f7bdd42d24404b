// KeptValues: Variables that get their present values back. For the definitions of Trainer.
#pragma once
#include <utility>
#include <vector>

#include "tandem/train/checkpoint.hpp"

namespace TANDEM_NS::train::detail {

/// The values of Variables, which they get back at the end of a scope.
class KeptValues {
 public:
  explicit KeptValues(const std::vector<CheckpointItem>& items) {
    for (const CheckpointItem& item : items)
      for (const Module::Named& n : item.variables()) kept_.emplace_back(n.variable, n.variable.value_untracked());
  }
  KeptValues(const KeptValues&) = delete;
  KeptValues& operator=(const KeptValues&) = delete;
  ~KeptValues() {
    for (const auto& [variable, value] : kept_) variable.set_untracked(value);
  }

 private:
  std::vector<std::pair<Variable, Tensor>> kept_;
};

}  // namespace TANDEM_NS::train::detail
