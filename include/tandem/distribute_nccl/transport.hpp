// nccl_transport(): the GPUs of a group's ranks, connected by NCCL. Part of the component tandem::distribute_nccl. Not
// here: NCCL's calls and streams (cuda/nccl, in a library built with CUDA).
#pragma once
#include <memory>

#include "tandem/distribute/device_transport.hpp"

namespace TANDEM_NS::distribute::impl {

/// Connects this rank's GPU of that number with one of each other rank. The ranks exchange what NCCL needs for that by
/// the group's own transport. Collective; the ops do it with the first tensor on a GPU.
///   throws  errors::FailedPreconditionError, in all ranks, if one of them cannot use NCCL, or two share a GPU;
///           errors::UnavailableError if NCCL does not connect them within the group's timeout
TANDEM_API std::unique_ptr<DeviceTransport> nccl_transport(const Communicator& group, DeviceErrors& errors, int device);

}  // namespace TANDEM_NS::distribute::impl
