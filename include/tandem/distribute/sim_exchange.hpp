// What an operation of a simulated group does with the buffers of its ranks. Part of the component tandem::distribute.
// For the definitions of sim_schedule.hpp.
#pragma once
#include <string>

#include "tandem/distribute/sim_schedule.hpp"

namespace TANDEM_NS::distribute::impl {

/// In what the ranks' calls differ; empty if they are the same operation.
std::string sim_mismatch(const SimOperation& operation);
/// Performs it, combining in the order of ranks.
void sim_exchange(const SimOperation& operation);

}  // namespace TANDEM_NS::distribute::impl
