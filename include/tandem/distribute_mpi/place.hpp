// Place: where a rank runs, its machine and the processors that it may use. For definitions only.
#pragma once
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "tandem/base/dtype.hpp"
#include "tandem/config.hpp"

namespace TANDEM_NS::distribute::impl::mpi {

struct Place {
  i64 machine = 0;         // equal on ranks of one machine
  cpu_set_t processors{};  // those that the rank may use
};

/// Those that the calling thread may use: of a cpuset, or those that a launcher has bound the process to.
inline cpu_set_t own_processors() {
  cpu_set_t r;
  CPU_ZERO(&r);
  if (::sched_getaffinity(0, sizeof r, &r) == 0) return r;
  const long all = std::min<long>(::sysconf(_SC_NPROCESSORS_ONLN), CPU_SETSIZE);  // there are more than a set has
  for (long i = 0; i < all; ++i) CPU_SET(static_cast<std::size_t>(i), &r);
  return r;
}
/// Whether the ranks of a machine have fewer processors, all together, than there are ranks.
inline bool have_too_few_processors(const std::vector<Place>& ranks, i64 machine) {
  cpu_set_t together;
  CPU_ZERO(&together);
  int here = 0;
  for (const Place& p : ranks) {
    if (p.machine != machine) continue;
    CPU_OR(&together, &together, &p.processors);
    ++here;
  }
  return here > CPU_COUNT(&together);
}

}  // namespace TANDEM_NS::distribute::impl::mpi
