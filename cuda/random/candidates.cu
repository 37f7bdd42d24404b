// The CUDA kernels of the candidate samplers. Which classes are drawn depends on the key alone, which is in host
// memory, and unique ones are drawn one after the other: the host draws them, as on the CPU, and the device computes
// the expected counts.
#include "tandem/cpu/random/candidates.hpp"

#include <vector>

#include "cuda/number.hpp"
#include "cuda/report.hpp"
#include "tandem/attrs/random.hpp"

namespace TANDEM_NS::cuda {
namespace {

struct Sample {
  i64 range, draws;
  bool unique;
};

template <class P, class I>
__global__ void __launch_bounds__(block_size)
    expected_kernel(const I* classes, float* y, i64 n, Sample s, Reporter report, const char* unit) {
  const i64 step = static_cast<i64>(gridDim.x) * blockDim.x;
  for (i64 i = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) {
    const i64 k = static_cast<i64>(classes[i]);
    y[i] = report.in_range(k, i, s.range, 0, unit) ? cpu::expected_candidates(P{s.range}(k), s.unique, s.draws) : 0.f;
  }
}
template <class P>
void expect(const KernelCall& c, const Operand& classes, const Operand& y, const Sample& s) {
  const i64 n = classes.size();
  if (n == 0) return;
  with_dtype<dtypes::index>(c, classes.spec->dtype, [&]<class I>() {
    launch(c, &expected_kernel<P, I>, blocks_for(n), classes.as<const I>(), y.as<float>(), n, s, Reporter(c),
           "true class");
  });
}
template <class P>
void sample(const KernelCall& c, i64 (*draw)(const rules::CandidateAttrs&, const i64*, void*, i64*)) {
  const auto& a = c.attrs.get<rules::CandidateAttrs>();
  const Operand& sampled = c.out[0];
  std::vector<i64> classes(static_cast<std::size_t>(a.num_sampled));
  std::vector<i64> slots(a.unique ? cpu::candidate_slots(a.num_sampled) : 0);
  const Sample s{a.range_max, draw(a, c.in[1].as<const i64>(), slots.data(), classes.data()), a.unique};
  if (sampled.size()) copy_from_host(queue_of(c), sampled.data, classes.data(), sampled.spec->bytes(), c.op);
  expect<P>(c, c.in[0], c.out[1], s);
  expect<P>(c, sampled, c.out[2], s);
}

}  // namespace

void log_uniform_candidate_sampler(const KernelCall& c) {
  sample<cpu::LogUniformProbability>(c, &cpu::draw_log_uniform_candidates);
}
void uniform_candidate_sampler(const KernelCall& c) {
  sample<cpu::UniformProbability>(c, &cpu::draw_uniform_candidates);
}

}  // namespace TANDEM_NS::cuda
