// The device that each op runs on, one line an op.
#pragma once
#include "tandem/config.hpp"

namespace TANDEM_NS::debugging {

/// Writes a line for every op that this thread runs from now on, those of gradients included: "matmul on GPU:0". An op
/// with a name, as all have in a traced function, is written "logits (matmul) on GPU:0". Traced functions run op by op
/// while it is on; the bodies of while_loop, cond and scan run as one op. When it is off it costs nothing.
///   write   gets each line, without its end; stderr by default
///   throws  errors::FailedPreconditionError in a function that is being traced, or where ops are not recorded
TANDEM_API void set_log_device_placement(bool on, void (*write)(const char* line) = nullptr);

}  // namespace TANDEM_NS::debugging
