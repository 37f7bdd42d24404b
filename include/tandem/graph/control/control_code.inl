// Definitions of graph/control/control_code.hpp.
#pragma once
#include "tandem/graph/control/control_code.hpp"
#include "tandem/graph/control/while_loop.hpp"

namespace TANDEM_NS::detail {

TANDEM_LAZY_INLINE void use_control_code() {
  static constexpr ControlCode code{{&infer_cond, &cond_gradient, &execute_cond},
                                    {&infer_loop, &loop_gradient, &execute_loop},
                                    {&infer_traced_gradient, &traced_gradient_rule, nullptr},
                                    &control::stage_loop};
  control_code_slot.store(&code, std::memory_order_release);
}

}  // namespace TANDEM_NS::detail
