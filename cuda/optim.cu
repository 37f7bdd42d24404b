// The CUDA kernels of the optimizers' update rules, dense and row-sparse. The learning rate and the step count are
// in host memory, so a launch does not wait. The kernels follow the list in optim/rules.hpp. Weights and gradients
// are stored as S and computed as T: of half precision in float32, with float32 slots.
#include "cuda/index/sort.hpp"
#include "cuda/layout/copy.hpp"
#include "cuda/number.hpp"
#include "tandem/optim/rules.hpp"

namespace TANDEM_NS::cuda {

template <class R>
void optimizer_update(const KernelCall& c);
template <class R>
void optimizer_sparse_update(const KernelCall& c);

namespace {

template <class R, class S>
struct States {
  using T = ComputeOf_t<S>;
  const S* weight_in;
  S* weight_out;
  const T* in[R::states];  // of the slots: from 1 on
  T* out[R::states];
};
template <class R, class S>
States<R, S> states_of(const KernelCall& c) {
  States<R, S> s{c.in[0].template as<const S>(), c.out[0].template as<S>(), {}, {}};
  for (std::size_t k = 1; k < R::states; ++k) {
    s.in[k] = c.in[k].template as<const ComputeOf_t<S>>();
    s.out[k] = c.out[k].template as<ComputeOf_t<S>>();
  }
  return s;
}
inline constexpr DTypes update_dtypes = dtypes::floating | dtypes::half_floating;
template <class R, class T>
using ParamsOf = typename R::template Params<T>;

template <class R, class S, class T = ComputeOf_t<S>>
__device__ __forceinline__ void step_at(const States<R, S>& s, const ParamsOf<R, T>& p, i64 i, T g) {
  T v[R::states];
  v[0] = static_cast<T>(s.weight_in[i]);
  for (int k = 1; k < R::states; ++k) v[k] = s.in[k][i];
  R::step(p, v, g);
  s.weight_out[i] = static_cast<S>(v[0]);
  for (int k = 1; k < R::states; ++k) s.out[k][i] = v[k];
}
template <class R, class S, class T = ComputeOf_t<S>>
__global__ void __launch_bounds__(block_size) update_kernel(States<R, S> s, ParamsOf<R, T> p, const S* g, i64 n) {
  const i64 step = static_cast<i64>(gridDim.x) * blockDim.x;
  for (i64 i = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step)
    step_at<R, S>(s, p, i, static_cast<T>(g[i]));
}
// Sums equal rows of the gradient, in order, before the rule is applied.
template <class R, class S, class T = ComputeOf_t<S>>
__global__ void __launch_bounds__(block_size)
    sparse_kernel(States<R, S> s, ParamsOf<R, T> p, const S* g, const i64* rows, const i64* places, i64 count,
                  i64 limit, i64 width) {
  const i64 step = static_cast<i64>(gridDim.x) * blockDim.x;
  for (i64 i = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; i < count * width; i += step) {
    const i64 k = i / width, column = i - k * width, row = rows[k];
    if (row >= limit || (k > 0 && rows[k - 1] == row)) continue;
    typename WideNumber<T>::type sum = static_cast<T>(g[places[k] * width + column]);
    for (i64 j = k + 1; j < count && rows[j] == row; ++j) sum += static_cast<T>(g[places[j] * width + column]);
    step_at<R, S>(s, p, row * width + column, static_cast<T>(sum));
  }
}

// Copies a weight or slot to its output, unless that is the same.
template <class T>
void copy_state(const KernelCall& c, std::size_t k, const T*& in, T* out) {
  if (in != out && c.out[k].size())
    check(cudaMemcpyAsync(out, in, c.out[k].spec->bytes(), cudaMemcpyDeviceToDevice, queue_of(c).stream), c.op, "copy");
  in = out;
}
template <class R, class S>
void sparse_update(const KernelCall& c) {
  const Shape& w = c.out[0].shape();
  const Operand& indices = c.in[R::states + 1];
  const i64 count = indices.size(), limit = w[0], width = limit ? w.size() / limit : 0;
  States<R, S> s = states_of<R, S>(c);
  copy_state(c, 0, s.weight_in, s.weight_out);
  for (std::size_t k = 1; k < R::states; ++k) copy_state(c, k, s.in[k], s.out[k]);
  if (count == 0 || width == 0) return;
  const Scratch sorted(c, 2 * static_cast<std::size_t>(count) * sizeof(i64));
  i64 *rows = sorted.as<i64>(), *places = rows + count;
  sort_rows(c, indices, 1, limit, rows, places);
  launch(c, &sparse_kernel<R, S>, blocks_for(count * width), s, ParamsOf<R, ComputeOf_t<S>>::make(c),
         c.in[R::states].template as<const S>(), rows, places, count, limit, width);
}

}  // namespace

template <class R>
void optimizer_update(const KernelCall& c) {
  const i64 n = c.out[0].size();
  if (n == 0) return;
  with_dtype<update_dtypes>(c, c.out[0].spec->dtype, [&]<class S>() {
    launch(c, &update_kernel<R, S>, blocks_for(n), states_of<R, S>(c), ParamsOf<R, ComputeOf_t<S>>::make(c),
           c.in[R::states].template as<const S>(), n);
  });
}
template <class R>
void optimizer_sparse_update(const KernelCall& c) {
  with_dtype<update_dtypes>(c, c.out[0].spec->dtype, [&]<class S>() { sparse_update<R, S>(c); });
}

#define TANDEM_CUDA_UPDATE(name, Rule)                            \
  template void optimizer_update<rules::Rule>(const KernelCall&); \
  template void optimizer_sparse_update<rules::Rule>(const KernelCall&);
TANDEM_FOR_EACH_UPDATE(TANDEM_CUDA_UPDATE)
#undef TANDEM_CUDA_UPDATE

}  // namespace TANDEM_NS::cuda
