// Tensor::to(device) as an op: a copy from one device to another, whose gradient is copied back.
// Not here: what a copy is (core/backend).
#pragma once
#include "tandem/core/apply.hpp"

namespace TANDEM_NS {

extern TANDEM_API const OpDef transfer_op;
inline constexpr const OpDef* transfer_ops[] = {&transfer_op};

namespace rules {
struct TransferAttrs {
  Device to;
  static constexpr auto fields = field_list(field("to", &TransferAttrs::to));
};
}  // namespace rules
}  // namespace TANDEM_NS
