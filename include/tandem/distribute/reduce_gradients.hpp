// Gradients of several processes as one: buckets, row-sparse ones. Part of the component tandem::distribute. For the
// definitions of strategy.hpp.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "tandem/core/indexed_slices.hpp"
#include "tandem/core/variable.hpp"
#include "tandem/distribute/strategy.hpp"

namespace TANDEM_NS::distribute::impl {

/// What a strategy keeps of the gradients of its Variables from step to step.
class KeptOfGradients {
 public:
  /// The gradient as bfloat16, with what rounding has taken from those before: StrategyOptions::error_feedback.
  ///   factor  as of Replication::sum_gradients: what is kept is divided by it; of a gradient with 0 nothing changes
  Tensor rounded(const Tensor& gradient, const Variable& variable, const Tensor& factor);

  /// What a Variable with a row-sparse gradient is called in errors and reports: its name, with a number behind it if
  /// another one has the same.
  const std::string& name_of(const Variable& table);
  const std::map<u64, std::string>& names() const { return names_; }

 private:
  std::map<u64, Variable> left_{};  // by the id of the Variable, as the names
  std::map<u64, std::string> names_{};
};

/// What the rows of a row-sparse gradient are called in errors and reports: "rows of 'table'".
std::string rows_label(const std::string& name);
/// The sums of the gradients of all ranks (Replication::sum_gradients).
std::vector<Gradient> reduce_gradients(const Communicator& group, const StrategyOptions& options,
                                       const std::vector<Gradient>& gradients, const std::vector<Variable>& variables,
                                       const Tensor& factor, KeptOfGradients& kept);

}  // namespace TANDEM_NS::distribute::impl
