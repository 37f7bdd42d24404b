// What the machine allows, measured beside the competitors: a case here takes the least time in which the same bytes
// can move or the same floating point operations can be done. Share of the limit = time of the limit / our time.
#pragma once
#include "../runner.hpp"

namespace bench::limit {

/// Streams that the work moves between memory and core.
enum class Stream { copy, add, read, update };

/// The given number of single-precision operations as fused multiply-adds out of registers.
Work arithmetic(double operations);

/// count floats a stream: copy c = a, add c = a + b, read sum(a), update a, b and c += d (what Adam moves). The variant
/// with non-temporal stores is for copy and add.
Work stream(Stream kind, std::int64_t count, bool non_temporal);

/// Adds `name@plain` and `name@nt`; the faster one is the limit.
bool add_stream(const std::string& name, Stream kind, std::int64_t count);
}  // namespace bench::limit
