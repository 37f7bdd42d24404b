// Loads NCCL with dlopen. Not here: the table that is used (library.cpp), in whose place a test has another one.
#include "cuda/nccl/library.hpp"

#if TANDEM_WITH_NCCL
#include "cuda/driver/opener.hpp"

namespace TANDEM_NS::cuda {

Library<Nccl> open_nccl() {
  Library<Nccl> r;
  Opener o(places_of("libnccl.so." + std::to_string(NCCL_MAJOR)));
  Nccl& f = r.functions;
  o.find(f.version, "ncclGetVersion");
  o.find(f.error_string, "ncclGetErrorString");
  o.find(f.last_error, "ncclGetLastError");
  o.find(f.unique_id, "ncclGetUniqueId");
  o.find(f.init, "ncclCommInitRankConfig");
  o.find(f.finalize, "ncclCommFinalize");
  o.find(f.destroy, "ncclCommDestroy");
  o.find(f.abort, "ncclCommAbort");
  o.find(f.async_error, "ncclCommGetAsyncError");
  o.find(f.group_start, "ncclGroupStart");
  o.find(f.group_end, "ncclGroupEnd");
  o.find(f.all_reduce, "ncclAllReduce");
  o.find(f.reduce, "ncclReduce");
  o.find(f.broadcast, "ncclBroadcast");
  o.find(f.all_gather, "ncclAllGather");
  o.find(f.reduce_scatter, "ncclReduceScatter");
  o.find(f.send, "ncclSend");
  o.find(f.receive, "ncclRecv");
  r.error = o.error();
  return r;
}

}  // namespace TANDEM_NS::cuda
#endif
