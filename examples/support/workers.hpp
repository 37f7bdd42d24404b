// For programs that train on several processes under tandem_run or mpirun: includes the transports (MPI, Gloo) that the
// library was built with.
#pragma once
#include <tandem/distribute.hpp>
#if TANDEM_WITH_DISTRIBUTE_MPI
#include <tandem/distribute_mpi.hpp>
#endif
#if TANDEM_WITH_DISTRIBUTE_GLOO
#include <tandem/distribute_gloo.hpp>
#endif

namespace workers {

/// Whether this process is the one that reports: rank 0, or the only one.
inline bool is_first(const tandem::distribute::MultiWorkerMirroredStrategy& strategy) {
  return strategy.group().rank() == 0;
}

}  // namespace workers
