// launch(): a Collective by calls of NCCL. Not here: streams, time limits, errors (group.cpp).
#pragma once
#include "cuda/nccl/library.hpp"
#include "tandem/distribute/transport.hpp"

#if TANDEM_WITH_NCCL
namespace TANDEM_NS::cuda {

/// Raises UnimplementedError in the op's name if NCCL cannot combine numbers of the call's dtype in this way.
void check_supported(const distribute::Collective& call, const char* op);

/// Launches a supported operation on a stream, any but a barrier. Elements that are only moved travel as bytes. What
/// NCCL has for equal counts alone is a group of calls, one for each rank, where they differ.
///   returns  ncclSuccess, ncclInProgress, or the first error
ncclResult_t launch(const distribute::Collective& call, const Nccl& nccl, ncclComm_t comm, int rank,
                    cudaStream_t stream);

}  // namespace TANDEM_NS::cuda
#endif
