// The one table that a run prints, a line per case and peer. Not here: measuring.
#pragma once
#include <string>
#include <vector>

#include "measure.hpp"

namespace bench::driver {

void print_header();

/// The lines of one case. Sides named "tandem..." are ours (compiled, or a header-only variant), "limit..." the
/// machine's, all others peers. Returns how many of the targets that apply were missed.
int print_case(const std::string& scenario, int threads, const std::vector<Side>& sides);
}  // namespace bench::driver
