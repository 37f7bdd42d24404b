// CPU kernels of the candidate samplers.
#pragma once
#include "tandem/base/philox.hpp"
#include "tandem/core/kernel.hpp"

namespace TANDEM_NS::cpu {

/// in: true classes, key; out: sampled classes, expected counts of the true and of the sampled classes; attributes:
/// CandidateAttrs; workspace: candidate_slots(num_sampled) of int64 if the classes are unique.
TANDEM_API void log_uniform_candidate_sampler(const KernelCall& c);
TANDEM_API void uniform_candidate_sampler(const KernelCall& c);
inline constexpr i64 max_unique_candidates = i64{1} << 40;
/// The size of the hash table that finds repeated draws: a power of two, at least twice the number of draws.
constexpr std::size_t candidate_slots(i64 num_sampled) {
  std::size_t n = 2;
  while (n < 2 * static_cast<std::size_t>(num_sampled)) n *= 2;
  return n;
}

}  // namespace TANDEM_NS::cpu
