// CPU kernels of the candidate samplers, and what the CUDA kernels share with them.
#pragma once
#include <cmath>

#include "tandem/core/kernel.hpp"
#include "tandem/util/philox.hpp"

namespace TANDEM_NS::rules {
struct CandidateAttrs;
}

namespace TANDEM_NS::cpu {

/// in: true classes, key; out: sampled classes, expected counts of the true and of the sampled classes; attributes:
/// CandidateAttrs; workspace: candidate_slots(num_sampled) of int64 if the classes are unique.
TANDEM_API void log_uniform_candidate_sampler(const KernelCall& c);
TANDEM_API void uniform_candidate_sampler(const KernelCall& c);
/// Fills out with the sampled classes; returns the number of draws.
///   slots  room as the kernels' workspace, in host memory
TANDEM_API i64 draw_log_uniform_candidates(const rules::CandidateAttrs& a, const i64* key, void* slots, i64* out);
TANDEM_API i64 draw_uniform_candidates(const rules::CandidateAttrs& a, const i64* key, void* slots, i64* out);
inline constexpr i64 max_unique_candidates = i64{1} << 40;
/// The size of the hash table that finds repeated draws: a power of two, at least twice the number of draws.
constexpr std::size_t candidate_slots(i64 num_sampled) {
  std::size_t n = 2;
  while (n < 2 * static_cast<std::size_t>(num_sampled)) n *= 2;
  return n;
}

/// The probability of class k.
struct UniformProbability {
  i64 range;
  TANDEM_HD double operator()(i64) const { return 1 / static_cast<double>(range); }
};
struct LogUniformProbability {
  i64 range;
  TANDEM_HD double operator()(i64 k) const {
    return ::log1p(1 / (static_cast<double>(k) + 1)) / ::log1p(static_cast<double>(range));
  }
};
/// The expected count of a class among the samples; unique samples contain it or not, after that many independent
/// draws.
TANDEM_HD float expected_candidates(double p, bool unique, i64 draws) {
  const auto n = static_cast<double>(draws);
  return static_cast<float>(unique ? -::expm1(n * ::log1p(-p)) : n * p);
}

}  // namespace TANDEM_NS::cpu
