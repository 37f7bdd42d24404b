// NCCL, loaded at first use. A program starts, and computes on one GPU, without it. A library that was built without
// NCCL's header has none.
#pragma once
#if __has_include(<nccl.h>)
#include <nccl.h>
#define TANDEM_WITH_NCCL 1
#else
#define TANDEM_WITH_NCCL 0
#endif

#include "cuda/driver/library.hpp"

#if TANDEM_WITH_NCCL
namespace TANDEM_NS::cuda {

/// libnccl of the major version that this library was built with, 2.14 or later.
struct Nccl {
  decltype(&::ncclGetVersion) version;
  decltype(&::ncclGetErrorString) error_string;
  decltype(&::ncclGetLastError) last_error;
  decltype(&::ncclGetUniqueId) unique_id;
  decltype(&::ncclCommInitRankConfig) init;
  decltype(&::ncclCommFinalize) finalize;
  decltype(&::ncclCommDestroy) destroy;
  decltype(&::ncclCommAbort) abort;
  decltype(&::ncclCommGetAsyncError) async_error;
  decltype(&::ncclGroupStart) group_start;
  decltype(&::ncclGroupEnd) group_end;
  decltype(&::ncclAllReduce) all_reduce;
  decltype(&::ncclReduce) reduce;
  decltype(&::ncclBroadcast) broadcast;
  decltype(&::ncclAllGather) all_gather;
  decltype(&::ncclReduceScatter) reduce_scatter;
  decltype(&::ncclSend) send;
  decltype(&::ncclRecv) receive;
};

/// Loads the library.
Library<Nccl> open_nccl();
/// Loads it at the first call and returns the same result afterwards. Thread-safe.
const Library<Nccl>& nccl();

}  // namespace TANDEM_NS::cuda
#endif
