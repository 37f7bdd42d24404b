// The table that a run prints, with one line per case and peer. Not here: the measurement.
#pragma once
#include <string>
#include <vector>

#include "measure.hpp"

namespace bench::driver {

void print_header();

/// Whether this is a traced variant of Tandem, or the tracing itself.
bool is_our_trace(const std::string& competitor);

/// The lines of one case. Sides named "tandem..." are ours (compiled or header-only), "limit..." are the limits of
/// the machine, and all others are peers. Each of our variants is also compared with our plain case. Returns the
/// number of applicable targets that were missed.
///   traced_only  omits the lines for our untraced cases
int print_case(const std::string& scenario, int threads, const std::vector<Side>& sides, bool traced_only);
}  // namespace bench::driver
