// The GRU on the device, reset_after form: one product for all steps' inputs, then one product and one kernel per
// step. Formulas and residuals as in cpu/rnn/rnn.inc.
#include "cuda/rnn/cudnn.hpp"
#include "cuda/rnn/rnn.hpp"
#include "tandem/util/scalar_math.hpp"

namespace TANDEM_NS::cuda {
namespace {

// Of the two biases, the state's is inside the candidate's product; for z and r they are added.
template <class T>
__global__ void __launch_bounds__(block_size) join_bias_kernel(const T* bias, T* both, i64 u) {
  const i64 step = static_cast<i64>(gridDim.x) * blockDim.x;
  for (i64 i = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; i < 3 * u; i += step)
    both[i] = bias[i] + (i < 2 * u ? bias[3 * u + i] : T(0));
}
// gates: the input's sums of z, r and the candidate, replaced by their values; sums: the state's.
template <class T>
__global__ void __launch_bounds__(block_size) step_kernel(StepCounts counts, i64 t, i64 batch, i64 u, T* gates,
                                                          const T* sums, const T* candidate_bias, T* hu, T* h, T* y) {
  const i64 step = static_cast<i64>(gridDim.x) * blockDim.x;
  for (i64 k = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; k < batch * u; k += step) {
    const i64 row = k / u, column = k % u, at = row * 3 * u + column;
    if (!counts.runs(row, t)) {
      y[k] = hu[k] = T(0);
      continue;
    }
    const T z = rules::logistic(gates[at] + sums[at]), r = rules::logistic(gates[at + u] + sums[at + u]);
    const T from_state = sums[at + 2 * u] + candidate_bias[column];
    const T candidate = rules::tanh(rules::fma(r, from_state, gates[at + 2 * u]));
    gates[at] = z, gates[at + u] = r, gates[at + 2 * u] = candidate;
    hu[k] = from_state;
    h[k] = y[k] = rules::fma(z, h[k] - candidate, candidate);
  }
}
// dh: the gradient that reaches the state from above, replaced by its direct contribution to the previous step.
template <class T>
__global__ void __launch_bounds__(block_size)
    step_grad_kernel(StepCounts counts, i64 t, i64 batch, i64 u, const T* gates, const T* hu, const T* h_prev,
                     const T* dy, T* dh, T* ds, T* da) {
  const i64 step = static_cast<i64>(gridDim.x) * blockDim.x;
  for (i64 k = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; k < batch * u; k += step) {
    const i64 row = k / u, at = row * 3 * u + k % u;
    if (!counts.runs(row, t)) {
      ds[at] = ds[at + u] = ds[at + 2 * u] = da[k] = T(0);
      continue;
    }
    const T z = gates[at], r = gates[at + u], candidate = gates[at + 2 * u], up = dh[k] + dy[k];
    const T d_candidate = up * (T(1) - z) * (T(1) - candidate * candidate);
    ds[at] = up * (h_prev[k] - candidate) * z * (T(1) - z);
    ds[at + u] = d_candidate * hu[k] * r * (T(1) - r);
    ds[at + 2 * u] = d_candidate * r;
    da[k] = d_candidate;
    dh[k] = up * z;
  }
}

template <class T>
void forward(const KernelCall& c) {
  const RnnSizes s(c.in[0].shape(), c.in[1].shape());
  const i64 u = s.units, state = s.batch * u;
  T *y = c.out[0].as<T>(), *h = c.out[1].as<T>(), *gates = c.out[2].as<T>(), *hu = c.out[3].as<T>();
  const T *wh = c.in[3].as<T>(), *bias = c.in[4].as<T>();
  const Scratch both(c, static_cast<std::size_t>(3 * u) * sizeof(T)),
      sums(c, static_cast<std::size_t>(3 * state) * sizeof(T));
  if (u) launch(c, &join_bias_kernel<T>, blocks_for(3 * u), bias, both.as<T>(), u);
  affine<T>(c, c.in[0].as<T>(), s.rows(), s.in, c.in[2].as<T>(), 3 * u, both.as<T>(), gates);
  copy_numbers(c, h, c.in[1].as<const T>(), state);
  const StepCounts counts(c, 5, s);
  for (i64 t = 0; t < s.steps && state; ++t) {
    multiply<T>(c, {.m = s.batch, .n = 3 * u, .k = u, .a = h, .b = wh, .c = sums.as<T>()});
    launch(c, &step_kernel<T>, blocks_for(state), counts, t, s.batch, u, gates + t * 3 * state, sums.as<T>(),
           bias + 5 * u, hu + t * state, h, y + t * state);
  }
}

// dA = [ds_z, ds_r, da]: the input's sums differ from the state's only in the candidate.
template <class T>
void input_gradients(const KernelCall& c, const RnnSizes& s, const T* ds, const T* da) {
  const i64 u = s.units, rows = s.rows();
  const T *x = c.in[0].as<T>(), *wx = c.in[2].as<T>();
  T *dwx = c.out[2].as<T>(), *db = c.out[4].as<T>();
  weight_gradient<T>(c, x, s.in, ds, 3 * u, 2 * u, rows, dwx, 3 * u, false);
  weight_gradient<T>(c, x, s.in, da, u, u, rows, dwx + 2 * u, 3 * u, false);
  column_sums<T>(c, ds, rows, 3 * u, db + 3 * u);
  copy_numbers<T>(c, db, db + 3 * u, 2 * u);
  column_sums<T>(c, da, rows, u, db + 2 * u);
  if (!c.out[0].size()) return;
  T* dx = c.out[0].as<T>();
  multiply<T>(
      c,
      {.m = rows, .n = s.in, .k = 2 * u, .a = ds, .b = wx, .c = dx, .lda = 3 * u, .ldb = 3 * u, .transpose_b = true});
  multiply<T>(c, {.m = rows,
                  .n = s.in,
                  .k = u,
                  .a = da,
                  .b = wx + 2 * u,
                  .c = dx,
                  .ldb = 3 * u,
                  .transpose_b = true,
                  .accumulate = true});
}
template <class T>
void backward(const KernelCall& c) {
  const RnnSizes s(c.in[0].shape(), c.in[1].shape());
  const i64 u = s.units, state = s.batch * u, rows = s.rows();
  const T *h0 = c.in[1].as<T>(), *wh = c.in[3].as<T>(), *y = c.in[5].as<T>(), *gates = c.in[6].as<T>(),
          *hu = c.in[7].as<T>(), *dy = c.in[8].as<T>();
  T *dh = c.out[1].as<T>(), *dwh = c.out[3].as<T>();
  copy_numbers(c, dh, c.in[9].as<const T>(), state);
  const Scratch room(c, static_cast<std::size_t>(rows * 4 * u) * sizeof(T));
  T *const ds = room.as<T>(), *const da = ds + rows * 3 * u;
  const StepCounts counts(c, 10, s);
  for (i64 t = s.steps; t-- > 0 && state;) {
    launch(c, &step_grad_kernel<T>, blocks_for(state), counts, t, s.batch, u, gates + t * 3 * state, hu + t * state,
           t ? y + (t - 1) * state : h0, dy + t * state, dh, ds + t * 3 * state, da + t * state);
    multiply<T>(c, {.m = s.batch,
                    .n = u,
                    .k = 3 * u,
                    .a = ds + t * 3 * state,
                    .b = wh,
                    .c = dh,
                    .transpose_b = true,
                    .accumulate = true});
  }
  weight_gradient<T>(c, h0, u, ds, 3 * u, 3 * u, s.steps ? s.batch : 0, dwh, 3 * u, false);
  if (s.steps > 1) weight_gradient<T>(c, y, u, ds + 3 * state, 3 * u, 3 * u, rows - s.batch, dwh, 3 * u, true);
  input_gradients<T>(c, s, ds, da);
}

}  // namespace

void gru(const KernelCall& c) {
  if (is_of_cudnn(c.out[3], c.in[1].shape()[1])) return rnn_by_cudnn(c, RnnCell::gru);
  with_dtype<dtypes::floating>(c, c.out[0].spec->dtype, [&]<class T>() { forward<T>(c); });
}
void gru_grad(const KernelCall& c) {
  if (is_of_cudnn(c.in[7], c.in[1].shape()[1])) return rnn_grad_by_cudnn(c, RnnCell::gru);
  with_dtype<dtypes::floating>(c, c.in[0].spec->dtype, [&]<class T>() { backward<T>(c); });
}

}  // namespace TANDEM_NS::cuda
