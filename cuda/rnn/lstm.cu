// The LSTM on the device: one product for all steps' inputs, then one product and one kernel per step. Formulas and
// residuals as in cpu/rnn/rnn.inc.
#include "cuda/rnn/cudnn.hpp"
#include "cuda/rnn/rnn.hpp"
#include "tandem/util/scalar_math.hpp"

namespace TANDEM_NS::cuda {
namespace {

// gates: the sums of i, f, g, o, replaced by the gates' values; c and h: the state, replaced.
template <class T>
__global__ void __launch_bounds__(block_size)
    step_kernel(StepCounts counts, i64 t, i64 batch, i64 u, T* gates, T* c, T* h, T* cells, T* y) {
  const i64 step = static_cast<i64>(gridDim.x) * blockDim.x;
  for (i64 k = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; k < batch * u; k += step) {
    const i64 row = k / u, at = row * 4 * u + k % u;
    if (!counts.runs(row, t)) {
      y[k] = T(0);
      cells[k] = c[k];
      continue;
    }
    const T i = rules::logistic(gates[at]), f = rules::logistic(gates[at + u]), g = rules::tanh(gates[at + 2 * u]),
            o = rules::logistic(gates[at + 3 * u]);
    const T state = rules::fma(f, c[k], i * g), out = o * rules::tanh(state);
    gates[at] = i, gates[at + u] = f, gates[at + 2 * u] = g, gates[at + 3 * u] = o;
    c[k] = cells[k] = state;
    h[k] = y[k] = out;
  }
}
// dh: the gradient that reaches the state from above, set to 0 where the step's product will add the propagated
// gradient; dc likewise, replaced.
template <class T>
__global__ void __launch_bounds__(block_size)
    step_grad_kernel(StepCounts counts, i64 t, i64 batch, i64 u, const T* gates, const T* c_prev, const T* cells,
                     const T* dy, T* dh, T* dc, T* dz) {
  const i64 step = static_cast<i64>(gridDim.x) * blockDim.x;
  for (i64 k = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; k < batch * u; k += step) {
    const i64 row = k / u, at = row * 4 * u + k % u;
    if (!counts.runs(row, t)) {
      for (int gate = 0; gate < 4; ++gate) dz[at + gate * u] = T(0);
      continue;
    }
    const T i = gates[at], f = gates[at + u], g = gates[at + 2 * u], o = gates[at + 3 * u];
    const T up = dh[k] + dy[k], tanh_c = rules::tanh(cells[k]);
    const T down = rules::fma(up * o, T(1) - tanh_c * tanh_c, dc[k]);
    dz[at] = down * g * i * (T(1) - i);
    dz[at + u] = down * c_prev[k] * f * (T(1) - f);
    dz[at + 2 * u] = down * i * (T(1) - g * g);
    dz[at + 3 * u] = up * tanh_c * o * (T(1) - o);
    dc[k] = down * f;
    dh[k] = T(0);
  }
}

template <class T>
void forward(const KernelCall& c) {
  const RnnSizes s(c.in[0].shape(), c.in[1].shape());
  const i64 u = s.units, state = s.batch * u;
  T *y = c.out[0].as<T>(), *h = c.out[1].as<T>(), *cell = c.out[2].as<T>(), *gates = c.out[3].as<T>(),
    *cells = c.out[4].as<T>();
  const T* wh = c.in[4].as<T>();
  affine<T>(c, c.in[0].as<T>(), s.rows(), s.in, c.in[3].as<T>(), 4 * u, c.in[5].as<T>(), gates);
  copy_numbers(c, h, c.in[1].as<const T>(), state);
  copy_numbers(c, cell, c.in[2].as<const T>(), state);
  const StepCounts counts(c, 6, s);
  for (i64 t = 0; t < s.steps && state; ++t) {
    multiply<T>(c, {.m = s.batch, .n = 4 * u, .k = u, .a = h, .b = wh, .c = gates + t * 4 * state, .accumulate = true});
    launch(c, &step_kernel<T>, blocks_for(state), counts, t, s.batch, u, gates + t * 4 * state, cell, h,
           cells + t * state, y + t * state);
  }
}
template <class T>
void backward(const KernelCall& c) {
  const RnnSizes s(c.in[0].shape(), c.in[1].shape());
  const i64 u = s.units, state = s.batch * u, rows = s.rows();
  const T *x = c.in[0].as<T>(), *h0 = c.in[1].as<T>(), *c0 = c.in[2].as<T>(), *wx = c.in[3].as<T>(),
          *wh = c.in[4].as<T>(), *y = c.in[6].as<T>(), *gates = c.in[7].as<T>(), *cells = c.in[8].as<T>(),
          *dy = c.in[9].as<T>();
  T *dh = c.out[1].as<T>(), *dc = c.out[2].as<T>(), *dwh = c.out[4].as<T>();
  copy_numbers(c, dh, c.in[10].as<const T>(), state);
  copy_numbers(c, dc, c.in[11].as<const T>(), state);
  const Scratch room(c, static_cast<std::size_t>(rows * 4 * u) * sizeof(T));
  T* const dz = room.as<T>();
  const StepCounts counts(c, 12, s);
  for (i64 t = s.steps; t-- > 0 && state;) {
    launch(c, &step_grad_kernel<T>, blocks_for(state), counts, t, s.batch, u, gates + t * 4 * state,
           t ? cells + (t - 1) * state : c0, cells + t * state, dy + t * state, dh, dc, dz + t * 4 * state);
    multiply<T>(c, {.m = s.batch,
                    .n = u,
                    .k = 4 * u,
                    .a = dz + t * 4 * state,
                    .b = wh,
                    .c = dh,
                    .transpose_b = true,
                    .accumulate = true});
  }
  weight_gradient<T>(c, x, s.in, dz, 4 * u, 4 * u, rows, c.out[3].as<T>(), 4 * u, false);
  weight_gradient<T>(c, h0, u, dz, 4 * u, 4 * u, s.steps ? s.batch : 0, dwh, 4 * u, false);
  if (s.steps > 1)  // past a row's length dz is 0, so y's zeros there do no harm
    weight_gradient<T>(c, y, u, dz + 4 * state, 4 * u, 4 * u, rows - s.batch, dwh, 4 * u, true);
  column_sums<T>(c, dz, rows, 4 * u, c.out[5].as<T>());
  if (c.out[0].size())
    multiply<T>(c, {.m = rows, .n = s.in, .k = 4 * u, .a = dz, .b = wx, .c = c.out[0].as<T>(), .transpose_b = true});
}

}  // namespace

void lstm(const KernelCall& c) {
  if (is_of_cudnn(c.out[4], c.in[1].shape()[1])) return rnn_by_cudnn(c, RnnCell::lstm);
  with_dtype<dtypes::floating>(c, c.out[0].spec->dtype, [&]<class T>() { forward<T>(c); });
}
void lstm_grad(const KernelCall& c) {
  if (is_of_cudnn(c.in[8], c.in[1].shape()[1])) return rnn_grad_by_cudnn(c, RnnCell::lstm);
  with_dtype<dtypes::floating>(c, c.in[0].spec->dtype, [&]<class T>() { backward<T>(c); });
}

}  // namespace TANDEM_NS::cuda
