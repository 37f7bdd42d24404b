// Gradients of several processes as one: buckets, row-sparse ones. Part of the component tandem::distribute. For the
// definitions of strategy.hpp.
#pragma once
#include <string>
#include <vector>

#include "tandem/core/indexed_slices.hpp"
#include "tandem/core/variable.hpp"
#include "tandem/distribute/strategy.hpp"

namespace TANDEM_NS::distribute::impl {

/// What the rows of a Variable's row-sparse gradient are called in errors and reports: "rows of 'table'".
std::string rows_label(const Variable& variable);
/// The sums of the gradients of all ranks (Replication::sum_gradients).
std::vector<Gradient> reduce_gradients(const Communicator& group, const StrategyOptions& options,
                                       const std::vector<Gradient>& gradients, const std::vector<Variable>& variables);

}  // namespace TANDEM_NS::distribute::impl
