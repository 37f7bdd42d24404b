// The backend "mpi" of Communicator::world(): ranks that mpirun, srun or another launcher of MPI has started. The
// component tandem::distribute_mpi. To include this header is enough to have it.
#pragma once
#include "tandem/distribute.hpp"
#include "tandem/distribute_mpi/transport.hpp"

#if TANDEM_IS_HEADER_ONLY
#include "tandem/distribute_mpi/algorithm.inl"
#include "tandem/distribute_mpi/collectives.inl"
#include "tandem/distribute_mpi/engine.inl"
#include "tandem/distribute_mpi/transport.inl"
#include "tandem/tandem.hpp"
#endif

namespace TANDEM_NS::distribute::impl {
inline const bool has_mpi = add_backend("mpi", &mpi_transport);
}  // namespace TANDEM_NS::distribute::impl
