// mpi_transport(): the ranks of MPI_COMM_WORLD as a Transport. Part of the component tandem::distribute_mpi. Not here:
// the process's use of MPI (engine.hpp), which MPI call does what (collectives.hpp).
#pragma once
#include <memory>

#include "tandem/distribute/transport.hpp"

namespace TANDEM_NS::distribute::impl {

/// Initializes MPI, unless the program has done so, and makes the transport of all its processes. Operations are
/// MPI's nonblocking collectives, so that none of them waits longer than it may. MPI is asked for
/// MPI_THREAD_SERIALIZED: a thread that waits calls MPI itself then, which saves the switch to another one. Where MPI
/// has no more than MPI_THREAD_FUNNELED, or the environment variable TANDEM_MPI_FUNNELED is 1, all calls come from one
/// thread that the library starts. That thread also advances large operations that nobody waits for yet, unless the
/// program has initialized MPI itself for less than MPI_THREAD_MULTIPLE: then the library calls MPI only when the
/// program calls the library.
///
/// MPI is finalized at exit(0), after all ranks have come there or the timeout has passed. A process that ends with
/// another status, or whose group is dead, leaves that to the launcher: mpirun then ends the others.
///   throws  errors::FailedPreconditionError if the program has initialized MPI for a single thread, or finalized it;
///           errors::UnavailableError if MPI reports an error
TANDEM_API std::unique_ptr<Transport> mpi_transport(const LaunchInfo& launch, double timeout);

}  // namespace TANDEM_NS::distribute::impl
