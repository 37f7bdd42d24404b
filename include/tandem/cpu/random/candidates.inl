// Definitions of cpu/random/candidates.hpp.
#pragma once
#include <algorithm>
#include <cmath>
#include <string>

#include "tandem/attrs/random.hpp"
#include "tandem/base/error.hpp"
#include "tandem/cpu/random/candidates.hpp"

namespace TANDEM_NS::cpu {

namespace detail {

// The distributions from which classes are drawn: draw number i of a stream, and the probability of a class.
struct UniformLaw {
  using Probability = UniformProbability;
  i64 range;
  i64 draw(const random::Stream& s, i64 i) const {
    return static_cast<i64>(random::below(s, i, random::word64(s, i), static_cast<u64>(range)));
  }
};
struct LogUniformLaw {
  using Probability = LogUniformProbability;
  i64 range;
  // The inverse of the distribution function log(k + 1) / log(range + 1).
  i64 draw(const random::Stream& s, i64 i) const {
    const double x = std::exp(random::unit(random::word64(s, i)) * std::log1p(static_cast<double>(range)));
    return std::min(static_cast<i64>(x) - 1, range - 1);
  }
};

// Finds whether a class has been drawn before.
struct DrawnClasses {
  i64* slots;
  std::size_t size;
  DrawnClasses(void* workspace, i64 num_sampled)
      : slots(static_cast<i64*>(workspace)), size(candidate_slots(num_sampled)) {
    std::fill(slots, slots + size, i64{-1});
  }
  bool add(i64 k) {
    std::size_t at = (static_cast<u64>(k) * 0x9e3779b97f4a7c15u >> 32) & (size - 1);
    for (; slots[at] >= 0; at = (at + 1) & (size - 1))
      if (slots[at] == k) return false;
    slots[at] = k;
    return true;
  }
};
// Fills `out`; returns the number of draws.
template <class Law>
i64 draw_classes(const Law& law, const rules::CandidateAttrs& a, const random::Stream& s, void* workspace, i64* out) {
  if (!a.unique) {
    for (i64 i = 0; i < a.num_sampled; ++i) out[i] = law.draw(s, i);
    return a.num_sampled;
  }
  DrawnClasses drawn(workspace, a.num_sampled);
  i64 draws = 0;
  for (i64 n = 0; n < a.num_sampled;) {
    const i64 k = law.draw(s, draws++);
    if (drawn.add(k)) out[n++] = k;
  }
  return draws;
}
template <class Law>
void sample_candidates(const KernelCall& c) {
  const rules::CandidateAttrs& a = c.attrs.get<rules::CandidateAttrs>();
  const Law law{a.range_max};
  const Operand& classes = c.in[0];
  const bool narrow = classes.spec->dtype == DType::int32;
  const auto true_class = [&](i64 i) { return narrow ? i64{classes.as<std::int32_t>()[i]} : classes.as<i64>()[i]; };
  for (i64 i = 0; i < classes.size(); ++i)
    if (const i64 k = true_class(i); k < 0 || k >= a.range_max)
      errors::raise<errors::InvalidArgumentError>(c.op, "true class " + std::to_string(k) + " at position " +
                                                            std::to_string(i) + " is out of range [0, " +
                                                            std::to_string(a.range_max) + ")");
  i64* const sampled = c.out[0].as<i64>();
  const i64 draws = draw_classes(law, a, random::stream_of(c.in[1].as<i64>()), c.workspace, sampled);
  const typename Law::Probability probability{a.range_max};
  const auto expected = [&](i64 k) { return expected_candidates(probability(k), a.unique, draws); };
  for (i64 i = 0; i < classes.size(); ++i) c.out[1].as<float>()[i] = expected(true_class(i));
  for (i64 i = 0; i < a.num_sampled; ++i) c.out[2].as<float>()[i] = expected(sampled[i]);
}

}  // namespace detail

TANDEM_INLINE i64 draw_log_uniform_candidates(const rules::CandidateAttrs& a, const i64* key, void* slots, i64* out) {
  return detail::draw_classes(detail::LogUniformLaw{a.range_max}, a, random::stream_of(key), slots, out);
}
TANDEM_INLINE i64 draw_uniform_candidates(const rules::CandidateAttrs& a, const i64* key, void* slots, i64* out) {
  return detail::draw_classes(detail::UniformLaw{a.range_max}, a, random::stream_of(key), slots, out);
}
TANDEM_INLINE void log_uniform_candidate_sampler(const KernelCall& c) {
  detail::sample_candidates<detail::LogUniformLaw>(c);
}
TANDEM_INLINE void uniform_candidate_sampler(const KernelCall& c) { detail::sample_candidates<detail::UniformLaw>(c); }

}  // namespace TANDEM_NS::cpu
