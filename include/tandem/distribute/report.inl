// Definitions of distribute/report.hpp and distribute/call_times.hpp.
#pragma once
#include <algorithm>
#include <cstdio>

#include "tandem/distribute/call_times.hpp"
#include "tandem/distribute/report.hpp"
#include "tandem/distribute/texts.hpp"
#include "tandem/util/format.hpp"

namespace TANDEM_NS::distribute {

namespace impl {

inline double seconds_of(i64 nanoseconds) { return static_cast<double>(nanoseconds) * 1e-9; }
inline std::string milliseconds(double seconds) { return tandem::detail::fixed_text(seconds * 1e3, 3) + " ms"; }

inline std::string counted(i64 n, const char* what) { return std::to_string(n) + what + (n == 1 ? "" : "s"); }

TANDEM_INLINE StrategyReport::Rank CallTimes::rank() const {
  StrategyReport::Rank r;
  r.steps = steps_.count;
  if (steps_.count < 2) return r;
  const auto n = static_cast<double>(steps_.count - 1);
  r.step = seconds_of(steps_.last - steps_.first) / n;
  r.exposed = seconds_of(steps_.exposed_last - steps_.exposed_first) / n;
  return r;
}
TANDEM_INLINE std::vector<StrategyReport::Operation> CallTimes::operations() const {
  std::vector<StrategyReport::Operation> r;
  for (const auto& [name, c] : operations_)
    r.push_back({name, c.calls, c.bytes, seconds_of(c.nanoseconds), seconds_of(c.exposed)});
  std::stable_sort(r.begin(), r.end(), [](const auto& a, const auto& b) { return a.exposed > b.exposed; });
  return r;
}
TANDEM_INLINE StrategyReport::Table CallTimes::table(const std::string& variable, const std::string& label) const {
  const auto rows = operations_.find("all_gather " + label), dense = operations_.find("all_reduce " + label);
  StrategyReport::Table r;
  r.variable = variable;
  if (rows != operations_.end()) r.calls = rows->second.calls, r.rows = rows->second.rows;
  if (dense != operations_.end()) r.dense_calls = dense->second.calls;
  return r;
}

}  // namespace impl

TANDEM_INLINE int StrategyReport::slowest() const {
  int r = -1;
  for (std::size_t i = 0; i < ranks.size(); ++i)
    if (ranks[i].step > 0 && (r < 0 || ranks[i].compute() > ranks[static_cast<std::size_t>(r)].compute()))
      r = static_cast<int>(i);
  return r;
}
TANDEM_INLINE std::string to_string(const StrategyReport& report) {
  std::string r;
  const int slowest = report.slowest();
  for (std::size_t i = 0; i < report.ranks.size(); ++i) {
    const StrategyReport::Rank& rank = report.ranks[i];
    r += "rank " + std::to_string(i) + ": " + impl::counted(rank.steps, " step");
    if (rank.step > 0)
      r += " of " + impl::milliseconds(rank.step) + " = " + impl::milliseconds(rank.compute()) + " compute + " +
           impl::milliseconds(rank.exposed) + " exposed communication";
    if (report.ranks.size() > 1 && static_cast<int>(i) == slowest) r += " (the slowest)";
    r += "\n";
  }
  r += "operations of rank " + std::to_string(report.rank) + ", means of a call:\n";
  for (const StrategyReport::Operation& o : report.operations) {
    const double calls = static_cast<double>(std::max<i64>(o.calls, 1));
    r += "  " + o.name + ": " + impl::counted(o.calls, " call") + ", " +
         impl::bytes_text(o.bytes / std::max<i64>(o.calls, 1)) + ", " + impl::milliseconds(o.seconds / calls) +
         " in flight, " + impl::milliseconds(o.exposed / calls) + " exposed\n";
  }
  for (const StrategyReport::Table& t : report.tables) {
    r += "row-sparse gradient of '" + t.variable + "': " + impl::counted(t.rows, " row") + " sent in " +
         impl::counted(t.calls, " call");
    if (t.dense_calls > 0) r += ", dense in " + impl::counted(t.dense_calls, " call");
    r += "\n";
  }
  return r;
}

}  // namespace TANDEM_NS::distribute
