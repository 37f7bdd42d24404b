// The backend "gloo" of Communicator::world(): ranks that tandem_run or a script has started, over TCP. The
// component tandem::distribute_gloo. To include this header is enough to have it.
#pragma once
#include "tandem/distribute.hpp"
#include "tandem/distribute_gloo/transport.hpp"

#if TANDEM_IS_HEADER_ONLY
#include "tandem/distribute_gloo/collectives.inl"
#include "tandem/distribute_gloo/transport.inl"
#include "tandem/distribute_gloo/worker.inl"
#include "tandem/tandem.hpp"
#endif

namespace TANDEM_NS::distribute::impl {
inline const bool has_gloo = add_backend("gloo", &gloo_transport);
}  // namespace TANDEM_NS::distribute::impl
