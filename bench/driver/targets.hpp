// What Tandem is to reach, scenario by scenario. Not here: how it is measured.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace bench::driver {

/// One demand on a case of ours.
///   scenario  a full name, or a prefix that ends in '*'; `@variant` behind it where the demand is not on the plain
///   case against   a competitor ("libtorch", "eigen@fused"), "tandem" (our own plain case), "best" (the fastest peer),
///             "compiled" (each peer that compiles the work), "limit" (share of the machine's limit), "seconds" or
///             "megabytes"
///   one, two  the ratio (for seconds and megabytes: the most allowed) with 1 and with 2 threads
struct Target {
  std::string_view scenario, against;
  double one, two;

  double at(int threads) const { return threads == 1 ? one : two; }
  bool names(const std::string& competitor) const;
};

/// The demands on our case; `variant` without its '@', empty for the plain one.
std::vector<Target> targets_of(const std::string& scenario, std::string_view variant);

/// How far two correct results may differ, relative to the mean magnitude.
double tolerance_of(const std::string& scenario);
}  // namespace bench::driver
