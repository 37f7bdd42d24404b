// A hash that says whether data are the same as in another process. Part of the component tandem::data.
#pragma once
#include <string_view>

#include "tandem/core/tensor.hpp"
#include "tandem/util/fnv1a.hpp"

namespace TANDEM_NS::data {

/// The 64-bit FNV-1a hash of bytes, which is the same on every machine: for settings of a run that must agree when it
/// goes on (train::FitOptions::configuration), or to hold out a fixed part of named elements. It does not protect
/// against content that is made to collide.
///   before  the hash of what comes before, to hash in parts: fingerprint(b, fingerprint(a)) is that of a and b
///   source  G. Fowler, L. C. Noll, K.-P. Vo, D. Eastlake, "The FNV Non-Cryptographic Hash Algorithm"
inline u64 fingerprint(std::string_view bytes, u64 before = tandem::detail::fnv1a_start) {
  return tandem::detail::fnv1a(bytes, before);
}
/// The same of a tensor's elements, which are numbers, in row-major order. Its shape and dtype are not part of it.
///   throws  errors::InvalidArgumentError for texts; errors::TraceError for a traced value
TANDEM_API u64 fingerprint(const Tensor& elements, u64 before = tandem::detail::fnv1a_start);

}  // namespace TANDEM_NS::data
