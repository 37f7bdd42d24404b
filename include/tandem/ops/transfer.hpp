// Tensor::to(device) as an op: copies a tensor between devices; its gradient is copied back.
// Not here: how copies are made (core/backend).
#pragma once
#include "tandem/core/apply.hpp"

namespace TANDEM_NS {

TANDEM_OPS(transfer_ops, transfer)

namespace rules {
struct TransferAttrs {
  Device to;
  TANDEM_ATTRS(TransferAttrs, to);
};
}  // namespace rules

namespace detail {
/// A new tensor, which has a value, where it belongs: on the device of the innermost device scope; strings stay on the
/// host. No op of it is traced or observed.
TANDEM_API Tensor to_current_device(const Tensor& t);
}  // namespace detail
}  // namespace TANDEM_NS
