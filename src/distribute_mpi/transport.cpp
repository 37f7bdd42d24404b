#include "tandem/distribute_mpi/transport.inl"
#include "tandem/distribute_mpi/algorithm.inl"
#include "tandem/distribute_mpi/collectives.inl"
#include "tandem/distribute_mpi/engine.inl"
