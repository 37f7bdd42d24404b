#include "tandem/distribute_gloo/transport.inl"
#include "tandem/distribute_gloo/collectives.inl"
#include "tandem/distribute_gloo/worker.inl"
