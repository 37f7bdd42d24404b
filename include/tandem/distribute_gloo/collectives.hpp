// run(): a Collective by calls of Gloo, which return when it has ended. For definitions only.
#pragma once
#include <gloo/context.h>

#include <chrono>
#include <cstdint>
#include <memory>

#include "tandem/distribute/transport.hpp"

namespace TANDEM_NS::distribute::impl::gloo_backend {

/// Runs an operation. reduce_scatter, which Gloo does not have for all types, is an all_to_all whose parts are combined
/// in the order of the ranks.
///   tag     a number that the operation has on all ranks, and no other operation that runs
///   throws  gloo::Exception if a connection is closed or the timeout passes
void run(const Collective& call, const std::shared_ptr<gloo::Context>& context, std::uint32_t tag,
         std::chrono::milliseconds timeout);

}  // namespace TANDEM_NS::distribute::impl::gloo_backend
