// The CUDA kernel of categorical: one block per row, whose threads hold the sums of equal shares of the classes. The
// draws are the CPU's, except where a number is within a rounding error of the border between two classes.
#include <cmath>

#include "cuda/number.hpp"
#include "cuda/report.hpp"
#include "tandem/attrs/random.hpp"
#include "tandem/util/philox.hpp"

namespace TANDEM_NS::cuda {
namespace {

struct Texts {
  const char *unit, *nan, *nothing;
};
struct Draw {
  random::Stream stream;
  double temperature;
  i64 samples, n, rows;
};

template <class T>
struct Weights {
  const T* row;
  double highest, temperature;

  // Relative to the most likely class. A class of +inf shares only with other such classes.
  __device__ double operator()(i64 k) const {
    const auto x = static_cast<double>(row[k]);
    if (x == highest) return 1;
    return x == -INFINITY || highest == INFINITY ? 0 : ::exp((x - highest) / temperature);
  }
};

// The most likely class, the first among equals, known to all threads; -1 if no class can be drawn from the row.
template <class T>
__device__ i64 likeliest(const T* row, i64 n, i64 index, T* best, i64* place, const Reporter& report,
                         const Texts& texts) {
  T value = -INFINITY;
  i64 at = n;
  bool nan = false;
  for (i64 k = threadIdx.x; k < n; k += block_size) {
    nan = nan || row[k] != row[k];
    if (at == n || row[k] > value) value = row[k], at = k;
  }
  best[threadIdx.x] = value;
  place[threadIdx.x] = nan ? -1 : at;
  __syncthreads();
  for (unsigned half = block_size / 2; half; half /= 2) {
    if (threadIdx.x < half) {
      const i64 a = place[threadIdx.x], b = place[threadIdx.x + half];
      const T x = best[threadIdx.x], y = best[threadIdx.x + half];
      if (a < 0 || b < 0) place[threadIdx.x] = -1;
      else if (y > x || (y == x && b < a)) best[threadIdx.x] = y, place[threadIdx.x] = b;
    }
    __syncthreads();
  }
  i64 found = place[0];
  const bool nothing = best[0] == T(-INFINITY);
  __syncthreads();
  if (threadIdx.x == 0 && found < 0) report.complain(texts.unit, texts.nan, index);
  if (threadIdx.x == 0 && found >= 0 && nothing) report.complain(texts.unit, texts.nothing, index);
  return nothing ? -1 : found;
}

// The first class whose cumulative sum exceeds the target: finds the share that contains it, then the class in the
// share.
template <class W>
__device__ i64 pick(const W& weight, const double* before, i64 n, i64 share, double u) {
  const double total = before[block_size], most = std::nextafter(total, 0.0),
               target = u * total < most ? u * total : most;
  int low = 0;
  for (int high = block_size; high - low > 1;) {
    const int middle = (low + high) / 2;
    if (before[middle] <= target) low = middle;
    else high = middle;
  }
  double sum = before[low];
  i64 last = 0;
  for (i64 k = low * share; k < n; ++k) {
    const double w = weight(k);
    sum += w;
    if (w > 0) last = k;
    if (sum > target) return k;
  }
  return last;
}

template <class T, class I>
__global__ void __launch_bounds__(block_size)
    categorical_kernel(const T* logits, I* out, Draw d, Reporter report, Texts texts) {
  __shared__ T best[block_size];
  __shared__ i64 place[block_size];
  __shared__ double before[block_size + 1];
  const i64 share = (d.n + block_size - 1) / block_size;
  for (i64 r = blockIdx.x; r < d.rows; r += gridDim.x) {
    const T* const row = logits + r * d.n;
    const i64 top = likeliest(row, d.n, r, best, place, report, texts);
    const Weights<T> weight{row, top < 0 ? 0.0 : static_cast<double>(row[top]), d.temperature};
    const bool draws = top >= 0 && d.temperature != 0;
    double sum = 0;
    const i64 first = threadIdx.x * share, end = first + share < d.n ? first + share : d.n;
    for (i64 k = first; draws && k < end; ++k) sum += weight(k);
    before[threadIdx.x + 1] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
      before[0] = 0;
      for (unsigned k = 1; k <= block_size; ++k) before[k] += before[k - 1];
    }
    __syncthreads();
    for (i64 i = threadIdx.x; i < d.samples; i += block_size) {
      const i64 at = r * d.samples + i;
      const i64 k = draws     ? pick(weight, before, d.n, share, random::unit(random::word64(d.stream, at)))
                    : top < 0 ? 0
                              : top;
      out[at] = static_cast<I>(k);
    }
    __syncthreads();
  }
}

}  // namespace

void categorical(const KernelCall& c) {
  const auto& a = c.attrs.get<rules::CategoricalAttrs>();
  const i64 n = c.in[0].shape().dim(-1), rows = n ? c.in[0].size() / n : 0;
  if (c.out[0].size() == 0) return;
  const Draw d{random::stream_of(c.in[1].as<i64>()), a.temperature, a.num_samples, n, rows};
  const Texts texts{"row", "has a NaN", "has only -inf: nothing can be drawn"};
  with_dtype<dtypes::floating>(c, c.in[0].spec->dtype, [&]<class T>() {
    const T* const logits = c.in[0].template as<const T>();
    if (c.out[0].spec->dtype == DType::int64)
      launch(c, &categorical_kernel<T, i64>, blocks_for(rows, 1), logits, c.out[0].as<i64>(), d, Reporter(c), texts);
    else
      launch(c, &categorical_kernel<T, std::int32_t>, blocks_for(rows, 1), logits, c.out[0].as<std::int32_t>(), d,
             Reporter(c), texts);
  });
}

}  // namespace TANDEM_NS::cuda
