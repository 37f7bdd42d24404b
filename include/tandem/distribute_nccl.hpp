// NCCL: the operations of tandem::distribute on tensors in the memory of GPUs. The component tandem::distribute_nccl.
// Including this header and that of a backend, by which the ranks meet, enables it.
#pragma once
#include "tandem/distribute.hpp"
#include "tandem/distribute_nccl/transport.hpp"

#if TANDEM_IS_HEADER_ONLY
#include "tandem/distribute_nccl/transport.inl"
#include "tandem/tandem.hpp"
#endif

namespace TANDEM_NS::distribute::impl {
inline const bool has_nccl = set_device_backend(&nccl_transport);
}  // namespace TANDEM_NS::distribute::impl
