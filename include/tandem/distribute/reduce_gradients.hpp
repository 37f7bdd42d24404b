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
  Tensor rounded(const Tensor& gradient, const Variable& variable);

  /// How a row-sparse gradient travels.
  struct Table {
    std::string variable, label;
    bool is_dense = false;
    i64 rows = -1, of = -1;  // of all ranks in the first step, and of the Variable; -1: unknown
  };
  /// Decides it when the Variable's gradient is first added up, alike in all ranks, whose numbers of rows are exchanged
  /// for it: dense, if these are at least half of the Variable's rows. In a trace the rows are not known yet: their
  /// number is that of the gradient, equal ones included, and if its shape does not have it, the rows are exchanged.
  const Table& table_of(const Communicator& group, const StrategyOptions& options, const Gradient& gradient,
                        const Variable& variable);
  const std::map<u64, Table>& tables() const { return tables_; }

 private:
  std::map<u64, Variable> left_{};  // by the id of the Variable, as the tables
  std::map<u64, Table> tables_{};
};

/// What the rows of a Variable's row-sparse gradient are called in errors and reports: "rows of 'table'".
std::string rows_label(const Variable& variable);
/// The sums of the gradients of all ranks (Replication::sum_gradients).
std::vector<Gradient> reduce_gradients(const Communicator& group, const StrategyOptions& options,
                                       const std::vector<Gradient>& gradients, const std::vector<Variable>& variables,
                                       KeptOfGradients& kept);

}  // namespace TANDEM_NS::distribute::impl
