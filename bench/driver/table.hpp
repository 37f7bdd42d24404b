// The one table that a run prints, a line per case and peer. Not here: measuring.
#pragma once
#include <string>
#include <vector>

#include "measure.hpp"

namespace bench::driver {

void print_header();

/// Whether this is a traced variant of ours, or the making of a trace.
bool is_our_trace(const std::string& competitor);

/// The lines of one case. Sides named "tandem..." are ours (compiled, or header-only), "limit..." the machine's, all
/// others peers; a variant of ours is also compared with our plain case. Returns how many of the targets that apply
/// were missed.
///   traced_only  no lines for what we do without a trace
int print_case(const std::string& scenario, int threads, const std::vector<Side>& sides, bool traced_only);
}  // namespace bench::driver
