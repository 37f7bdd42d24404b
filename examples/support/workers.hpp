// For programs that train on several processes under tandem_run or mpirun: includes the transports (MPI, Gloo, NCCL)
// that the library was built with.
#pragma once
#include <tandem/distribute.hpp>
#if TANDEM_WITH_DISTRIBUTE_MPI
#include <tandem/distribute_mpi.hpp>
#endif
#if TANDEM_WITH_DISTRIBUTE_GLOO
#include <tandem/distribute_gloo.hpp>
#endif
#if TANDEM_WITH_DISTRIBUTE_NCCL
#include <tandem/distribute_nccl.hpp>
#endif

namespace workers {

using Strategy = tandem::distribute::MultiWorkerMirroredStrategy;

/// Whether this process is the one that reports: rank 0, or the only one.
inline bool is_first(const Strategy& strategy) { return strategy.group().rank() == 0; }

}  // namespace workers
