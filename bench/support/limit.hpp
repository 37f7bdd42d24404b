// The limits of the machine, measured together with the competitors: a case here takes the minimum time in which the
// same bytes can be moved or the same floating-point operations can be done. Share of the limit = time of the limit
// / our time.
#pragma once
#include "../runner.hpp"

namespace bench::limit {

/// The memory streams of the work.
enum class Stream { copy, add, read, update };

/// Performs the given number of single-precision operations as fused multiply-adds on registers.
Work arithmetic(double operations);

/// Moves `count` floats per stream: copy c = a, add c = a + b, read sum(a), update a, b and c += d
/// (the traffic of Adam). Non-temporal stores are supported for copy and add.
Work stream(Stream kind, std::int64_t count, bool non_temporal);

/// Adds `name@plain` and `name@nt`; the faster one is the limit.
bool add_stream(const std::string& name, Stream kind, std::int64_t count);
}  // namespace bench::limit
