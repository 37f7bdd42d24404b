// How often each op has run on this thread.
#pragma once
#include <map>
#include <string>

#include "tandem/config.hpp"

namespace TANDEM_NS::debugging {

/// Counts the ops that this thread runs from now on, those of gradients included; the counts begin at 0. Enabling it
/// twice has no further effect. Traced functions run op by op while it is on, so that their ops are counted one by one,
/// before any rewrite; the bodies of while_loop, cond and scan run as one op. Tracing itself counts nothing. When it is
/// off it costs nothing.
///   throws  errors::FailedPreconditionError in a function that is being traced
TANDEM_API void enable_op_counts();
/// Ends the counting of this thread; the counts remain. No effect if it is off.
///   throws  errors::FailedPreconditionError where ops are not recorded, or in a function that is being traced, if it
///           was enabled outside of it
TANDEM_API void disable_op_counts();
/// Returns how often each op has run on this thread since enable_op_counts(), by name ("matmul"); without ops that have
/// not.
TANDEM_API std::map<std::string, long long> op_counts();

}  // namespace TANDEM_NS::debugging
