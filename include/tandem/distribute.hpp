// Training on several processes: groups of ranks, collective operations on tensors, strategies, a simulated cluster for
// tests. The component tandem::distribute.
#pragma once
#include "tandem/distribute/collectives.hpp"
#include "tandem/distribute/communicator.hpp"
#include "tandem/distribute/liveness.hpp"
#include "tandem/distribute/make_parallel.hpp"
#include "tandem/distribute/sharded_embedding.hpp"
#include "tandem/distribute/sim_cluster.hpp"
#include "tandem/distribute/strategy.hpp"
#include "tandem/distribute/tcp_store.hpp"
#include "tandem/distribute/transport.hpp"

#if TANDEM_IS_HEADER_ONLY
#include "tandem/distribute/agreement.inl"
#include "tandem/distribute/bucket_ops.inl"
#include "tandem/distribute/collectives.inl"
#include "tandem/distribute/combine.inl"
#include "tandem/distribute/communicator.inl"
#include "tandem/distribute/launch.inl"
#include "tandem/distribute/liveness.inl"
#include "tandem/distribute/make_parallel.inl"
#include "tandem/distribute/reduce_gradients.inl"
#include "tandem/distribute/sharded_embedding.inl"
#include "tandem/distribute/sim_cluster.inl"
#include "tandem/distribute/sim_exchange.inl"
#include "tandem/distribute/sim_schedule.inl"
#include "tandem/distribute/strategy.inl"
#include "tandem/distribute/tcp_store.inl"
#include "tandem/distribute/tcp_store_server.inl"
#include "tandem/tandem.hpp"
#include "tandem/train.hpp"
#endif
