// The CUDA kernel of add_n.
#include "cuda/number.hpp"
#include "cuda/queue.hpp"
#include "cuda/reduce/folds.hpp"

namespace TANDEM_NS::cuda {
namespace {

// Up to this many terms are added by one launch, of float32 in double precision.
constexpr int most_terms = 64;
template <class T>
struct Terms {
  const T* at[most_terms];
  int count;
};
template <class T>
__global__ void __launch_bounds__(block_size) add_kernel(Terms<T> x, T* y, i64 n) {
  const i64 step = static_cast<i64>(gridDim.x) * blockDim.x;
  for (i64 i = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) {
    using W = typename WideNumber<T>::type;
    W sum = static_cast<W>(x.at[0][i]);
#pragma unroll 4
    for (int k = 1; k < x.count; ++k) sum = static_cast<W>(sum + static_cast<W>(x.at[k][i]));
    y[i] = static_cast<T>(sum);
  }
}

}  // namespace

void add_n(const KernelCall& c) {
  const Operand& y = c.out[0];
  if (y.size() == 0) return;
  with_dtype<numbers>(c, y.spec->dtype, [&]<class S>() {
    using T = typename WrapOf<S>::type;
    // From the second launch on, the sum so far is the first term.
    for (std::size_t next = 0; next < c.in.size();) {
      Terms<T> x{{}, 0};
      if (next > 0) x.at[x.count++] = y.as<const T>();
      while (x.count < most_terms && next < c.in.size()) x.at[x.count++] = c.in[next++].as<const T>();
      launch(c, &add_kernel<T>, blocks_for(y.size()), x, y.as<T>(), y.size());
    }
  });
}

}  // namespace TANDEM_NS::cuda
