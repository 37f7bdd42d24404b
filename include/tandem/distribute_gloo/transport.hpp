// gloo_transport(): processes that a launcher has started, connected by Gloo over TCP. Part of the component
// tandem::distribute_gloo. Not here: the thread on which operations run (worker.hpp), which call of Gloo does what
// (collectives.hpp).
#pragma once
#include <memory>

#include "tandem/distribute/transport.hpp"

namespace TANDEM_NS::distribute::impl {

/// Makes the transport of all processes of a launch. They find each other by a TcpStore: the launcher's, which
/// TANDEM_STORE=host:port names (tandem_run sets it), or one that rank 0 opens at MASTER_ADDR:MASTER_PORT.
///
/// Gloo uses the network interface by which this process reaches the store or, if that is the loopback and others may
/// be on other machines, that of outward_address(); TANDEM_INTERFACE=eth1 names another one. When a rank dies, the
/// others' operations raise as soon as its connections are closed.
///   throws  errors::FailedPreconditionError if neither a store nor a master address is known; errors::UnavailableError
///           if not all ranks have come within `timeout` seconds
TANDEM_API std::unique_ptr<Transport> gloo_transport(const LaunchInfo& launch, double timeout);

}  // namespace TANDEM_NS::distribute::impl
