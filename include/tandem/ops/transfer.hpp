// Tensor::to(device) as an op: copies a tensor between devices; its gradient is copied back.
// Not here: how copies are made (core/backend).
#pragma once
#include "tandem/core/apply.hpp"

namespace TANDEM_NS {

TANDEM_OPS(transfer_ops, transfer)

namespace rules {
struct TransferAttrs {
  Device to;
  static constexpr auto fields = field_list(field("to", &TransferAttrs::to));
};
}  // namespace rules
}  // namespace TANDEM_NS
