// The CUDA kernels of the gamma, Poisson and binomial distributions (util/rejection.hpp). Parameters that are not valid
// give 0, or for gamma numbers without log the smallest positive normal number, and are reported at the next wait.
#include <limits>

#include "cuda/number.hpp"
#include "cuda/report.hpp"
#include "tandem/attrs/random.hpp"
#include "tandem/util/rejection.hpp"

namespace TANDEM_NS::cuda {
namespace {

struct Texts {
  const char *unit, *first, *second;
};
// A parameter for each number: a scalar serves all.
template <class T>
struct Each {
  const T* data;
  i64 step;
  explicit Each(const Operand& x) : data(x.as<const T>()), step(x.shape().rank() > 0) {}
  __device__ double operator[](i64 i) const { return static_cast<double>(data[i * step]); }
};

template <class T>
__global__ void __launch_bounds__(block_size) gamma_kernel(random::Stream s, Each<T> alpha, bool is_log, double lowest,
                                                           T* y, i64 n, Reporter report, Texts texts) {
  const i64 step = static_cast<i64>(gridDim.x) * blockDim.x;
  for (i64 i = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) {
    const double a = alpha[i];
    if (!(a > 0)) report.complain(texts.unit, texts.first, i);
    const double x = a > 0 ? random::gamma_number(a, is_log, {s, static_cast<u64>(i)}) : 0;
    y[i] = rules::convert<T>(x < lowest ? lowest : x);
  }
}
template <class T>
__global__ void __launch_bounds__(block_size) check_positive_kernel(const T* x, i64 n, Reporter report, Texts texts) {
  const i64 step = static_cast<i64>(gridDim.x) * blockDim.x;
  for (i64 i = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step)
    if (!(x[i] > T(0))) report.complain(texts.unit, texts.second, i);
}
template <class T, class O>
__global__ void __launch_bounds__(block_size)
    poisson_kernel(random::Stream s, Each<T> mean, O* y, i64 n, Reporter report, Texts texts) {
  const i64 step = static_cast<i64>(gridDim.x) * blockDim.x;
  for (i64 i = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) {
    const double m = mean[i];
    if (!(m >= 0)) report.complain(texts.unit, texts.first, i);
    y[i] = m >= 0 ? rules::convert<O>(random::poisson_number(m, {s, static_cast<u64>(i)})) : O(0);
  }
}
template <class O>
__global__ void __launch_bounds__(block_size) binomial_kernel(random::Stream s, Each<double> counts, Each<double> probs,
                                                              O* y, i64 n, Reporter report, Texts texts) {
  const i64 step = static_cast<i64>(gridDim.x) * blockDim.x;
  for (i64 i = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) {
    const double k = counts[i], p = probs[i];
    const bool counts_fit = k >= 0 && k == ::floor(k) && k < 0x1p62, probs_fit = p >= 0 && p <= 1;
    if (!counts_fit || !probs_fit) report.complain(texts.unit, counts_fit ? texts.second : texts.first, i);
    y[i] = counts_fit && probs_fit ? rules::convert<O>(random::binomial_number(k, p, {s, static_cast<u64>(i)})) : O(0);
  }
}

inline constexpr DTypes drawn = dtypes::floating | dtypes::index;

}  // namespace

void random_gamma(const KernelCall& c) {
  const auto& a = c.attrs.get<rules::DistributionAttrs>();
  const Operand &alpha = c.in[0], &y = c.out[0];
  const i64 n = y.size();
  const Texts texts{"element", "has a concentration or degree of freedom that is not positive",
                    "has a rate, beta, that is not positive"};
  with_dtype<dtypes::floating>(c, alpha.spec->dtype, [&]<class T>() {
    using L = std::numeric_limits<T>;
    if (c.in.size() > 2 && c.in[2].size())
      launch(c, &check_positive_kernel<T>, blocks_for(c.in[2].size()), c.in[2].as<const T>(), c.in[2].size(),
             Reporter(c), texts);
    if (n == 0) return;
    // A density may be infinite at 0, and the difference of two infinite logarithms is NaN.
    const auto lowest = static_cast<double>(a.log ? L::lowest() : L::min());
    launch(c, &gamma_kernel<T>, blocks_for(n), random::stream_of(c.in[1].as<i64>()), Each<T>(alpha), a.log, lowest,
           y.as<T>(), n, Reporter(c), texts);
  });
}
void random_poisson(const KernelCall& c) {
  const Operand &lam = c.in[0], &y = c.out[0];
  const i64 n = y.size();
  if (n == 0) return;
  const Texts texts{"element", "has a mean, lam, that is negative", ""};
  with_dtype<dtypes::floating>(c, lam.spec->dtype, [&]<class T>() {
    with_dtype<drawn>(c, y.spec->dtype, [&]<class O>() {
      launch(c, &poisson_kernel<T, O>, blocks_for(n), random::stream_of(c.in[1].as<i64>()), Each<T>(lam), y.as<O>(), n,
             Reporter(c), texts);
    });
  });
}
void random_binomial(const KernelCall& c) {
  const Operand& y = c.out[0];
  const i64 n = y.size();
  if (n == 0) return;
  const Texts texts{"element", "has a count that is not a finite integer of at least 0",
                    "has a probability outside of [0, 1]"};
  with_dtype<drawn>(c, y.spec->dtype, [&]<class O>() {
    launch(c, &binomial_kernel<O>, blocks_for(n), random::stream_of(c.in[2].as<i64>()), Each<double>(c.in[0]),
           Each<double>(c.in[1]), y.as<O>(), n, Reporter(c), texts);
  });
}

}  // namespace TANDEM_NS::cuda
