// begin(): a Collective as requests of MPI. For definitions only.
#pragma once
#include "tandem/distribute/transport.hpp"
#include "tandem/distribute_mpi/engine.hpp"

namespace TANDEM_NS::distribute::impl::mpi {

/// Begins an operation on a communicator: the one call of MPI, or the several ones of an all_to_all, or of an
/// all_reduce or broadcast of more than 2^30 elements, whose requests `op` gets. The engine runs it.
///   throws  errors::InvalidArgumentError for other operations on 2^31 elements or more, on all ranks, which MPI 3
///   cannot count;
///           errors::ResourceExhaustedError beyond 64 different functions that combine; errors::UnavailableError if
///           MPI reports an error
void begin(const Collective& call, MPI_Comm group, Operation& op);

}  // namespace TANDEM_NS::distribute::impl::mpi
