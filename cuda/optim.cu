// The CUDA kernels of the optimizers' update rules: dense, of many tensors in one launch, and row-sparse. The learning
// rate and the step count are in host memory, so a launch does not wait. The kernels follow the list in
// optim/rules.hpp. Weights and gradients are stored as S and computed as T: of half precision in float32, with float32
// slots.
#include "cuda/index/sort.hpp"
#include "cuda/layout/copy.hpp"
#include "cuda/number.hpp"
#include "tandem/optim/rules.hpp"

namespace TANDEM_NS::cuda {

template <class R>
void optimizer_update(const KernelCall& c);
template <class R>
void optimizer_updates(const KernelCall& c);
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
// Those whose weight is input and output number `first`.
template <class R, class S>
States<R, S> states_of(const KernelCall& c, std::size_t first = 0) {
  States<R, S> s{c.in[first].template as<const S>(), c.out[first].template as<S>(), {}, {}};
  for (std::size_t k = 1; k < R::states; ++k) {
    s.in[k] = c.in[first + k].template as<const ComputeOf_t<S>>();
    s.out[k] = c.out[first + k].template as<ComputeOf_t<S>>();
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
// Tensors that one launch updates: a kernel's arguments have 4 KiB.
inline constexpr int most_tensors = 32;
template <class R, class S>
struct Batch {
  struct Item {
    States<R, S> states;
    const S* g;
    i64 n;
  };
  Item items[most_tensors];
  unsigned first_block[most_tensors];  // of each item
  int count = 0;
};
#ifdef TANDEM_CUDA_EMULATED
constexpr i64 elements_of_block = block_size;  // so that small tensors of tests have several
#else
constexpr i64 elements_of_block = 8 * block_size;
#endif

// `factor` is a number by which all gradients are multiplied first, or null.
template <class R, class S, class T = ComputeOf_t<S>>
__global__ void __launch_bounds__(block_size)
    updates_kernel(const __grid_constant__ Batch<R, S> batch, ParamsOf<R, T> p, const S* factor) {
  int k = 0;
  while (k + 1 < batch.count && blockIdx.x >= batch.first_block[k + 1]) ++k;
  const typename Batch<R, S>::Item& item = batch.items[k];
  const i64 first = static_cast<i64>(blockIdx.x - batch.first_block[k]) * elements_of_block;
  const i64 end = first + elements_of_block < item.n ? first + elements_of_block : item.n;
  const T by = factor ? static_cast<T>(*factor) : T(1);
  for (i64 i = first + threadIdx.x; i < end; i += block_size) {
    const T g = static_cast<T>(item.g[i]);
    step_at<R, S>(item.states, p, i, factor ? g * by : g);
  }
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
// (states of the first..., of the second..., gradients..., factor if there is one, learning rate, step)
template <class R, class S>
void update_many(const KernelCall& c) {
  constexpr i64 most_blocks = i64(1) << 30;
  const std::size_t tensors = c.out.size() / R::states, gradients = tensors * R::states;
  const auto params = ParamsOf<R, ComputeOf_t<S>>::make(c);
  const bool is_scaled = c.in.size() == gradients + tensors + 3;
  const S* const factor = is_scaled ? c.in[gradients + tensors].template as<const S>() : nullptr;
  Batch<R, S> batch;
  i64 blocks = 0;
  const auto launch_batch = [&] {
    if (blocks) launch(c, &updates_kernel<R, S>, static_cast<unsigned>(blocks), batch, params, factor);
    batch.count = 0, blocks = 0;
  };
  for (std::size_t i = 0; i < tensors; ++i) {
    const i64 n = c.out[i * R::states].size(), more = (n + elements_of_block - 1) / elements_of_block;
    if (batch.count == most_tensors || blocks + more > most_blocks) launch_batch();
    if (n == 0) continue;
    batch.items[batch.count] = {states_of<R, S>(c, i * R::states), c.in[gradients + i].template as<const S>(), n};
    batch.first_block[batch.count++] = static_cast<unsigned>(blocks);
    blocks += more;
  }
  launch_batch();
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
void optimizer_updates(const KernelCall& c) {
  with_dtype<update_dtypes>(c, c.out[0].spec->dtype, [&]<class S>() { update_many<R, S>(c); });
}
template <class R>
void optimizer_sparse_update(const KernelCall& c) {
  with_dtype<update_dtypes>(c, c.out[0].spec->dtype, [&]<class S>() { sparse_update<R, S>(c); });
}

#define TANDEM_CUDA_UPDATE(name, Rule)                             \
  template void optimizer_update<rules::Rule>(const KernelCall&);  \
  template void optimizer_updates<rules::Rule>(const KernelCall&); \
  template void optimizer_sparse_update<rules::Rule>(const KernelCall&);
TANDEM_FOR_EACH_UPDATE(TANDEM_CUDA_UPDATE)
#undef TANDEM_CUDA_UPDATE

}  // namespace TANDEM_NS::cuda
