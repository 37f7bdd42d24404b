#include "tandem/distribute/sim_cluster.inl"
#include "tandem/distribute/sim_exchange.inl"
#include "tandem/distribute/sim_schedule.inl"
