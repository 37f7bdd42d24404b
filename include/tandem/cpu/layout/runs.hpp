// Runs of bytes that lie at regular distances: the rows of a strided copy, the parts of the rows of a concatenation.
#pragma once
#include <cstdint>

#include "tandem/base/dtype.hpp"
#include "tandem/cpu/simd/packs.hpp"

namespace TANDEM_NS::cpu {

/// Run r goes from `from + r * from_step` to `to + r * to_step`. All numbers count bytes.
struct Runs {
  char* to;
  const char* from;
  i64 to_step, from_step, bytes;
};

}  // namespace TANDEM_NS::cpu

#define TANDEM_KERNELS "tandem/cpu/layout/runs.inc"
#include "tandem/cpu/simd/for_each_isa.inc"

namespace TANDEM_NS::cpu {

/// Longer runs are copied by memcpy.
inline constexpr i64 longest_short_run = 4096;
/// Copies the runs [first, last) of each of several, run by run, so that the rows that they form are written in order.
inline void copy_runs(const Runs* runs, int count, i64 first, i64 last) {
  static constexpr ByIsa<decltype(&TANDEM_LOWEST_ISA::copy_runs)> sets{TANDEM_EACH_ISA(copy_runs)};
  sets.get()(runs, count, first, last);
}
/// The same past the caches, where the runs lie one after the other in the output, without gaps.
inline void join_runs_around(const Runs* runs, int count, i64 first, i64 last) {
  static constexpr ByIsa<decltype(&TANDEM_LOWEST_ISA::join_runs_around)> sets{TANDEM_EACH_ISA(join_runs_around)};
  sets.get()(runs, count, first, last);
}

}  // namespace TANDEM_NS::cpu
