// The CUDA kernels of the random ops. They produce the CPU's numbers (util/philox.hpp defines which word makes which
// element). The key is in host memory. Normals agree with the CPU's to 1e-6, all else bit for bit.
#include <cmath>

#include "cuda/number.hpp"
#include "cuda/queue.hpp"
#include "tandem/attrs/random.hpp"
#include "tandem/util/philox.hpp"

namespace TANDEM_NS::cuda {
namespace {

using random::group32;
using random::group64;
using random::group_blocks;
using random::Stream;
using random::Words;

// Thread b makes all elements of Philox block b, group_blocks apart: f(element, which word or pair, words).
template <class F>
__device__ void each_element(const Stream& s, i64 n, i64 group, const F& f) {
  const i64 blocks = (n + group - 1) / group * group_blocks, step = static_cast<i64>(gridDim.x) * blockDim.x;
  for (i64 b = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; b < blocks; b += step) {
    const Words w = s.block(static_cast<u64>(b));
    const i64 first = b / group_blocks * group + b % group_blocks;
    for (int k = 0; k < group / group_blocks; ++k)
      if (const i64 i = first + k * group_blocks; i < n) f(i, k, w);
  }
}
__device__ inline u64 pair_of(const Words& w, int k) { return random::join(w.w[2 * k], w.w[2 * k + 1]); }
// A standard normal of a block: two pairs from four 32-bit words, or one pair from two 64-bit words.
__device__ inline double normal_of(const Words& w, int k, float) {
  const random::Pair z = k < 2 ? random::normals32(w.w[0], w.w[1]) : random::normals32(w.w[2], w.w[3]);
  return k & 1 ? z.second : z.first;
}
__device__ inline double normal_of(const Words& w, int k, double) {
  const random::Pair z = random::normals64(pair_of(w, 0), pair_of(w, 1));
  return k ? z.second : z.first;
}

__global__ void __launch_bounds__(block_size) bits32_kernel(Stream s, std::uint32_t* y, i64 n) {
  each_element(s, n, group32, [=](i64 i, int k, const Words& w) { y[i] = w.w[k]; });
}
__global__ void __launch_bounds__(block_size) bits64_kernel(Stream s, u64* y, i64 n) {
  each_element(s, n, group64, [=](i64 i, int k, const Words& w) { y[i] = pair_of(w, k); });
}
template <class T>
struct Interval {  // low + unit * width, kept below the upper bound
  T low, width, last;
  __device__ T operator()(T unit) const {
    const T x = low + unit * width;
    return x > last ? last : x;
  }
};
__global__ void __launch_bounds__(block_size) uniform32_kernel(Stream s, Interval<float> f, float* y, i64 n) {
  each_element(s, n, group32, [=](i64 i, int k, const Words& w) { y[i] = f(random::unit(w.w[k])); });
}
__global__ void __launch_bounds__(block_size) uniform64_kernel(Stream s, Interval<double> f, double* y, i64 n) {
  each_element(s, n, group64, [=](i64 i, int k, const Words& w) { y[i] = f(random::unit(pair_of(w, k))); });
}
template <class T>
__global__ void __launch_bounds__(block_size) whole_kernel(Stream s, i64 low, u64 range, T* y, i64 n) {
  each_element(s, n, group64, [=](i64 i, int k, const Words& w) {
    y[i] = static_cast<T>(static_cast<u64>(low) + random::below(s, i, pair_of(w, k), range));
  });
}
template <class T>
__global__ void __launch_bounds__(block_size) normal_kernel(Stream s, T mean, T stddev, T* y, i64 n) {
  each_element(s, n, sizeof(T) == 4 ? group32 : group64,
               [=](i64 i, int k, const Words& w) { y[i] = static_cast<T>(normal_of(w, k, T())) * stddev + mean; });
}
// Values beyond two standard deviations are redrawn, from blocks of the element's own.
template <class T>
__global__ void __launch_bounds__(block_size) truncated_kernel(Stream s, T mean, T stddev, T* y, i64 n) {
  each_element(s, n, sizeof(T) == 4 ? group32 : group64, [=](i64 i, int k, const Words& w) {
    double z = normal_of(w, k, T());
    for (std::uint32_t attempt = 1; !(std::abs(z) <= 2) && attempt < 256; ++attempt) {
      const Words again = s.block(static_cast<u64>(i), attempt);
      const random::Pair p = random::normals64(pair_of(again, 0), pair_of(again, 1));
      z = std::abs(p.first) <= 2 ? p.first : p.second;
    }
    y[i] = static_cast<T>(z) * stddev + mean;
  });
}
__global__ void __launch_bounds__(block_size)
    drop32_kernel(Stream s, std::uint32_t threshold, float scale, const float* x, float* y, i64 n) {
  each_element(s, n, group32, [=](i64 i, int k, const Words& w) { y[i] = w.w[k] >= threshold ? x[i] * scale : 0.f; });
}
__global__ void __launch_bounds__(block_size)
    drop64_kernel(Stream s, std::uint32_t threshold, double scale, const double* x, double* y, i64 n) {
  each_element(s, n, group64,
               [=](i64 i, int k, const Words& w) { y[i] = w.w[2 * k + 1] >= threshold ? x[i] * scale : 0.0; });
}

unsigned blocks_of(i64 n, i64 group) { return blocks_for((n + group - 1) / group * group_blocks); }
Stream stream_of(const Operand& key) { return random::stream_of(key.as<i64>()); }

template <class T>
void whole(const KernelCall& c, const rules::RandomAttrs& a) {
  const i64 n = c.out[0].size();
  launch(c, &whole_kernel<T>, blocks_of(n, group64), stream_of(c.in[0]), a.low,
         static_cast<u64>(a.high) - static_cast<u64>(a.low), c.out[0].as<T>(), n);
}

}  // namespace

void random_bits(const KernelCall& c) {
  const Operand& y = c.out[0];
  const i64 n = y.size();
  if (n == 0) return;
  if (size_of(y.spec->dtype) == 4)
    launch(c, &bits32_kernel, blocks_of(n, group32), stream_of(c.in[0]), y.as<std::uint32_t>(), n);
  else launch(c, &bits64_kernel, blocks_of(n, group64), stream_of(c.in[0]), y.as<u64>(), n);
}
void random_uniform(const KernelCall& c) {
  const auto& a = c.attrs.get<rules::RandomAttrs>();
  const Operand& y = c.out[0];
  const i64 n = y.size();
  if (n == 0) return;
  if (y.spec->dtype == DType::float32) {
    const float low = static_cast<float>(a.a), high = static_cast<float>(a.b);
    return launch(c, &uniform32_kernel, blocks_of(n, group32), stream_of(c.in[0]),
                  Interval<float>{low, high - low, std::nextafter(high, low)}, y.as<float>(), n);
  }
  if (y.spec->dtype == DType::float64)
    return launch(c, &uniform64_kernel, blocks_of(n, group64), stream_of(c.in[0]),
                  Interval<double>{a.a, a.b - a.a, std::nextafter(a.b, a.a)}, y.as<double>(), n);
  switch (size_of(y.spec->dtype)) {
    case 1: return whole<std::uint8_t>(c, a);
    case 2: return whole<std::uint16_t>(c, a);
    case 4: return whole<std::uint32_t>(c, a);
    default: return whole<u64>(c, a);
  }
}
void random_normal(const KernelCall& c) {
  const auto& a = c.attrs.get<rules::RandomAttrs>();
  const i64 n = c.out[0].size();
  if (n == 0) return;
  with_dtype<dtypes::floating>(c, c.out[0].spec->dtype, [&]<class T>() {
    launch(c, &normal_kernel<T>, blocks_of(n, sizeof(T) == 4 ? group32 : group64), stream_of(c.in[0]),
           static_cast<T>(a.a), static_cast<T>(a.b), c.out[0].as<T>(), n);
  });
}
void truncated_normal(const KernelCall& c) {
  const auto& a = c.attrs.get<rules::RandomAttrs>();
  const i64 n = c.out[0].size();
  if (n == 0) return;
  with_dtype<dtypes::floating>(c, c.out[0].spec->dtype, [&]<class T>() {
    launch(c, &truncated_kernel<T>, blocks_of(n, sizeof(T) == 4 ? group32 : group64), stream_of(c.in[0]),
           static_cast<T>(a.a), static_cast<T>(a.b), c.out[0].as<T>(), n);
  });
}
void dropout(const KernelCall& c) {
  const double rate = c.attrs.get<rules::DropoutAttrs>().rate;
  const auto threshold = static_cast<std::uint32_t>(std::min(rate * 0x1p32, 0xffffffffp0));
  const Operand &x = c.in[0], &y = c.out[0];
  const i64 n = y.size();
  if (n == 0) return;
  if (y.spec->dtype == DType::float32)
    launch(c, &drop32_kernel, blocks_of(n, group32), stream_of(c.in[1]), threshold, static_cast<float>(1 / (1 - rate)),
           x.as<const float>(), y.as<float>(), n);
  else
    launch(c, &drop64_kernel, blocks_of(n, group64), stream_of(c.in[1]), threshold, 1 / (1 - rate),
           x.as<const double>(), y.as<double>(), n);
}

}  // namespace TANDEM_NS::cuda
