// The CUDA kernels of the optimizers' update rules, dense and row-sparse. The learning rate and the step count are
// in host memory, so a launch does not wait. The kernels follow the list in ops/optim/rules.hpp.
#include "cuda/copy.hpp"
#include "cuda/number.hpp"
#include "cuda/sort.hpp"
#include "tandem/ops/optim/rules.hpp"

namespace TANDEM_NS::cuda {

template <class R>
void optimizer_update(const KernelCall& c);
template <class R>
void optimizer_sparse_update(const KernelCall& c);

namespace {

template <class R, class T>
struct States {
  const T* in[R::states];
  T* out[R::states];
};
template <class R, class T>
States<R, T> states_of(const KernelCall& c) {
  States<R, T> s;
  for (std::size_t k = 0; k < R::states; ++k) {
    s.in[k] = c.in[k].template as<const T>();
    s.out[k] = c.out[k].template as<T>();
  }
  return s;
}
template <class R, class T>
using ParamsOf = typename R::template Params<T>;

template <class R, class T>
__device__ __forceinline__ void step_at(const States<R, T>& s, const ParamsOf<R, T>& p, i64 i, T g) {
  T v[R::states];
  for (int k = 0; k < R::states; ++k) v[k] = s.in[k][i];
  R::step(p, v, g);
  for (int k = 0; k < R::states; ++k) s.out[k][i] = v[k];
}
template <class R, class T>
__global__ void __launch_bounds__(block_size) update_kernel(States<R, T> s, ParamsOf<R, T> p, const T* g, i64 n) {
  const i64 step = static_cast<i64>(gridDim.x) * blockDim.x;
  for (i64 i = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) step_at<R, T>(s, p, i, g[i]);
}
// Sums equal rows of the gradient, in order, before the rule is applied.
template <class R, class T>
__global__ void __launch_bounds__(block_size)
    sparse_kernel(States<R, T> s, ParamsOf<R, T> p, const T* g, const i64* rows, const i64* places, i64 count,
                  i64 limit, i64 width) {
  const i64 step = static_cast<i64>(gridDim.x) * blockDim.x;
  for (i64 i = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; i < count * width; i += step) {
    const i64 k = i / width, column = i - k * width, row = rows[k];
    if (row >= limit || (k > 0 && rows[k - 1] == row)) continue;
    T sum = g[places[k] * width + column];
    for (i64 j = k + 1; j < count && rows[j] == row; ++j) sum += g[places[j] * width + column];
    step_at<R, T>(s, p, row * width + column, sum);
  }
}

template <class R, class T>
void sparse_update(const KernelCall& c) {
  const Shape& w = c.out[0].shape();
  const Operand& indices = c.in[R::states + 1];
  const i64 count = indices.size(), limit = w[0], width = limit ? w.size() / limit : 0;
  States<R, T> s = states_of<R, T>(c);
  for (std::size_t k = 0; k < R::states; ++k) {
    if (s.in[k] != s.out[k] && w.size())
      check(cudaMemcpyAsync(s.out[k], s.in[k], c.out[k].spec->bytes(), cudaMemcpyDeviceToDevice, queue_of(c).stream),
            c.op, "copy");
    s.in[k] = s.out[k];
  }
  if (count == 0 || width == 0) return;
  const Scratch sorted(c, 2 * static_cast<std::size_t>(count) * sizeof(i64));
  i64 *rows = sorted.as<i64>(), *places = rows + count;
  sort_rows(c, indices, 1, limit, rows, places);
  launch(c, &sparse_kernel<R, T>, blocks_for(count * width), s, ParamsOf<R, T>::make(c),
         c.in[R::states].template as<const T>(), rows, places, count, limit, width);
}

}  // namespace

template <class R>
void optimizer_update(const KernelCall& c) {
  const i64 n = c.out[0].size();
  if (n == 0) return;
  with_dtype<dtypes::floating>(c, c.out[0].spec->dtype, [&]<class T>() {
    launch(c, &update_kernel<R, T>, blocks_for(n), states_of<R, T>(c), ParamsOf<R, T>::make(c),
           c.in[R::states].template as<const T>(), n);
  });
}
template <class R>
void optimizer_sparse_update(const KernelCall& c) {
  with_dtype<dtypes::floating>(c, c.out[0].spec->dtype, [&]<class T>() { sparse_update<R, T>(c); });
}

#define TANDEM_CUDA_UPDATE(name, Rule)                            \
  template void optimizer_update<rules::Rule>(const KernelCall&); \
  template void optimizer_sparse_update<rules::Rule>(const KernelCall&);
TANDEM_FOR_EACH_UPDATE(TANDEM_CUDA_UPDATE)
#undef TANDEM_CUDA_UPDATE

}  // namespace TANDEM_NS::cuda
