// What Tandem is to reach, scenario by scenario. Not here: how it is measured.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace bench::driver {

/// One demand on a scenario.
///   against   a competitor ("libtorch", "eigen@fused"), "best" (the fastest peer), "limit" (share of the machine's
///   limit), "seconds" or "megabytes" one, two  the ratio (for seconds and megabytes: the most allowed) with 1 and with
///   2 threads
struct Target {
  std::string_view scenario;  // a full name, or a prefix that ends in '*'
  std::string_view against;
  double one, two;

  double at(int threads) const { return threads == 1 ? one : two; }
};

std::vector<Target> targets_of(const std::string& scenario);

/// How far two correct results may differ, relative to the mean magnitude.
double tolerance_of(const std::string& scenario);
}  // namespace bench::driver
