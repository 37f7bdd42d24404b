// config::enable_op_determinism.
#pragma once
#include "tandem/config.hpp"

namespace TANDEM_NS::config {

/// States that equal calls must give equal bits on a device. There is nothing to switch on: no kernel of the library,
/// on the CPU or on a GPU, adds in an order that depends on the time or on the number of threads, and random ops are
/// functions of their seeds. The function exists for programs that say so in TensorFlow. Ops from elsewhere that are
/// registered as `nondeterministic` are not affected.
inline void enable_op_determinism() {}

}  // namespace TANDEM_NS::config
