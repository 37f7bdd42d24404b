// Definitions of ops/random/candidates.hpp.
#pragma once
#include "tandem/core/scope.hpp"
#include "tandem/cpu/random/candidates.hpp"
#include "tandem/ops/cuda_kernels.hpp"
#include "tandem/ops/random/candidates.hpp"

namespace TANDEM_NS {

namespace detail {
TANDEM_INLINE Specs infer_candidates(const InferCall& c) {
  const rules::CandidateAttrs& a = c.get<rules::CandidateAttrs>();
  check_key(c, 1);
  const Spec& classes = c.spec(0);
  if (classes.shape.rank() != 2) raise_specs(c, "true_classes must be [b, num_true]");
  const i64 most = a.unique ? std::min(a.range_max, cpu::max_unique_candidates) : INT64_MAX;
  if (a.range_max < 1 || a.num_sampled < 0 || a.num_sampled > most)
    raise_specs(c, "cannot draw " + std::to_string(a.num_sampled) + (a.unique ? " different" : "") + " classes of " +
                       std::to_string(a.range_max));
  const Shape samples{a.num_sampled};
  return Specs(Spec{samples, DType::int64, classes.device}, Spec{classes.shape, DType::float32, classes.device},
               Spec{samples, DType::float32, classes.device});
}
TANDEM_INLINE std::size_t candidates_workspace(Span<const Spec>, const Attrs& attrs) {
  const rules::CandidateAttrs& a = attrs.get<rules::CandidateAttrs>();
  return a.unique ? cpu::candidate_slots(a.num_sampled) * sizeof(i64) : 0;
}
constexpr OpDef candidate_row(const char* name, const char* in_errors, KernelFn cpu, KernelFn cuda) {
  return {.name = name,
          .input_names = "true_classes, key",
          .infer = &infer_candidates,
          .cpu = cpu,
          .cuda = cuda,
          .workspace = &candidates_workspace,
          .dtypes = dtypes::index,
          .inputs = 2,
          .outputs = 3,
          .saves = Saves::nothing,
          .host_inputs = 2,
          .flags = {.random = true, .non_differentiable = true},
          .attrs = &attr_type<rules::CandidateAttrs>,
          .rare = {.in_errors = in_errors}};
}
}  // namespace detail

TANDEM_INLINE constexpr OpDef log_uniform_candidate_sampler_op =
    detail::candidate_row("log_uniform_candidate_sampler", "random::log_uniform_candidate_sampler",
                          &cpu::log_uniform_candidate_sampler, TANDEM_CUDA(&cuda::log_uniform_candidate_sampler));
TANDEM_INLINE constexpr OpDef uniform_candidate_sampler_op =
    detail::candidate_row("uniform_candidate_sampler", "random::uniform_candidate_sampler",
                          &cpu::uniform_candidate_sampler, TANDEM_CUDA(&cuda::uniform_candidate_sampler));

namespace random {

namespace impl {
TANDEM_INLINE Candidates candidates(const OpDef& op, const Tensor& true_classes, i64 num_true,
                                    const rules::CandidateAttrs& a, const CandidateSamplerOptions& o) {
  const Shape& s = true_classes.shape();
  if (s.rank() != 2 || (s.dim(1) != num_true && s.dim(1) != none))
    errors::raise<errors::InvalidArgumentError>(
        op.rare.in_errors,
        "true_classes must be [b, num_true = " + std::to_string(num_true) + "], not " + to_string(true_classes.spec()));
  const Tensor key = next_key(op.rare.in_errors, {o.seed, o.generator});
  const Tensor* const in[] = {&true_classes, &key};
  Tensors r = apply(op, in, a, {o.name, o.where});
  return {std::move(r[0]), std::move(r[1]), std::move(r[2])};
}
}  // namespace impl

TANDEM_INLINE Candidates log_uniform_candidate_sampler(const Tensor& true_classes, i64 num_true, i64 num_sampled,
                                                       bool unique, i64 range_max, CandidateSamplerOptions o) {
  const tandem::detail::CallSite call(o);
  return impl::candidates(log_uniform_candidate_sampler_op, true_classes, num_true, {num_sampled, range_max, unique},
                          o);
}
TANDEM_INLINE Candidates uniform_candidate_sampler(const Tensor& true_classes, i64 num_true, i64 num_sampled,
                                                   bool unique, i64 range_max, CandidateSamplerOptions o) {
  const tandem::detail::CallSite call(o);
  return impl::candidates(uniform_candidate_sampler_op, true_classes, num_true, {num_sampled, range_max, unique}, o);
}

}  // namespace random
}  // namespace TANDEM_NS
