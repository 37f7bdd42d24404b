// The performance targets of Tandem, by scenario. Not here: how they are measured.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace bench::driver {

/// One target for one of our cases.
///   scenario  a full name, or a prefix that ends in '*', followed by `@variant` unless the plain case is meant
///   against   a competitor ("libtorch", "eigen@fused"), "tandem" (our own plain case), "best" (the fastest peer),
///             "compiled" (each peer that compiles the work), "limit" (share of the machine's limit), "seconds" or
///             "megabytes"
///   one, two  the ratio (for seconds and megabytes: the maximum) with 1 and with 2 threads
struct Target {
  std::string_view scenario, against;
  double one, two;

  double at(int threads) const { return threads == 1 ? one : two; }
  bool names(const std::string& competitor) const;
};

/// The targets for one of our cases; `variant` without its '@', empty for the plain case.
std::vector<Target> targets_of(const std::string& scenario, std::string_view variant);

/// The largest difference between two correct results, relative to the mean magnitude.
double tolerance_of(const std::string& scenario);
}  // namespace bench::driver
