// In the place of cuDNN: its recurrent functions for one layer of LSTM or GRU, by the formulas of its documentation, in
// double precision. Where the weights lie, and what the reserve space holds, is this file's own, as it is cuDNN's. It
// refuses what the library does not use, wrong sizes, memory of the host, and a reserve space of another call.
#include "cuda/driver/driver.hpp"

#if TANDEM_WITH_CUDNN
#include <cmath>
#include <cstring>
#include <vector>

#include "tests/cuda/emulator/memory.hpp"
#include "tests/cuda/emulator/stream.hpp"

namespace {

using i64 = std::int64_t;
constexpr auto good = CUDNN_STATUS_SUCCESS, bad = CUDNN_STATUS_BAD_PARAM;
constexpr int refused_batch = 13;  // so that a test sees what follows
int failures = 0;                  // so many more plans fail for lack of memory
constexpr i64 header = 4;          // numbers at the beginning of the reserve space: which call wrote it
enum State : int { trained = 17, propagated = 18 };

struct Rnn {
  bool is_gru = false, is_set = false;
  i64 in = 0, units = 0;

  int gates() const { return is_gru ? 3 : 4; }
  i64 columns(int id) const { return id < gates() ? in : units; }
  // The last matrix comes first, with room between all parts.
  i64 matrix_at(int id) const {
    i64 at = 3;
    for (int k = 2 * gates() - 1; k > id; --k) at += units * columns(k) + 5 + units + 3;
    return at;
  }
  i64 bias_at(int id) const { return matrix_at(id) + units * columns(id) + 5; }
  std::size_t weight_bytes() const { return static_cast<std::size_t>(bias_at(0) + units) * sizeof(float); }
};
struct Data {
  i64 steps = 0, batch = 0, width = 0;
};
struct State3 {
  int size[3] = {};
};
struct Handle {
  cudaStream_t stream = nullptr;
};
template <class T, class H>
T& of(H h) {
  return *reinterpret_cast<T*>(h);
}
template <class T, class H>
cudnnStatus_t make(H* h) {
  return *h = reinterpret_cast<H>(new T), good;
}
template <class T, class H>
cudnnStatus_t destroy(H h) {
  return delete reinterpret_cast<T*>(h), good;
}

cudnnStatus_t desc_set(cudnnRNNDescriptor_t d, cudnnRNNAlgo_t algorithm, cudnnRNNMode_t mode, cudnnRNNBiasMode_t bias,
                       cudnnDirectionMode_t direction, cudnnRNNInputMode_t input, cudnnDataType_t type,
                       cudnnDataType_t computes, cudnnMathType_t math, std::int32_t in, std::int32_t units,
                       std::int32_t projection, std::int32_t layers, cudnnDropoutDescriptor_t dropout,
                       std::uint32_t flags) {
  if (algorithm != CUDNN_RNN_ALGO_STANDARD || (mode != CUDNN_LSTM && mode != CUDNN_GRU) ||
      bias != CUDNN_RNN_DOUBLE_BIAS || direction != CUDNN_UNIDIRECTIONAL || input != CUDNN_LINEAR_INPUT ||
      type != CUDNN_DATA_FLOAT || computes != CUDNN_DATA_FLOAT || math != CUDNN_FMA_MATH || in < 1 || units < 1 ||
      projection != units || layers != 1 || !dropout || flags != CUDNN_RNN_PADDED_IO_DISABLED)
    return bad;
  return of<Rnn>(d) = {mode == CUDNN_GRU, true, in, units}, good;
}
cudnnStatus_t data_set(cudnnRNNDataDescriptor_t d, cudnnDataType_t type, cudnnRNNDataLayout_t layout, int steps,
                       int batch, int width, const int* lengths, void*) {
  if (type != CUDNN_DATA_FLOAT || layout != CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED || steps < 1 || batch < 1 ||
      width < 1 || !lengths)
    return bad;
  for (int i = 0; i < batch; ++i)
    if (lengths[i] != steps) return bad;
  if (batch == refused_batch) return CUDNN_STATUS_NOT_SUPPORTED;
  return of<Data>(d) = {steps, batch, width}, good;
}
cudnnStatus_t tensor_set(cudnnTensorDescriptor_t d, cudnnDataType_t type, int rank, const int* size,
                         const int* strides) {
  if (type != CUDNN_DATA_FLOAT || rank != 3 || strides[2] != 1 || strides[1] != size[2] ||
      strides[0] != size[1] * size[2])
    return bad;
  return std::memcpy(of<State3>(d).size, size, sizeof(State3)), good;
}
std::size_t reserve_bytes(const Rnn& r, const Data& x) {
  const i64 row = (r.gates() + 1) * r.units;
  return static_cast<std::size_t>(header + x.steps * x.batch * row) * sizeof(float);
}
std::size_t work_bytes(const Rnn& r, const Data& x) { return static_cast<std::size_t>(x.batch * r.units + 7) * 4; }
cudnnStatus_t temporary_bytes(cudnnHandle_t, cudnnRNNDescriptor_t r, cudnnForwardMode_t mode,
                              cudnnRNNDataDescriptor_t x, std::size_t* work, std::size_t* reserve) {
  if (failures > 0) return --failures, CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED;
  if (!of<Rnn>(r).is_set || mode != CUDNN_FWD_MODE_TRAINING || of<Data>(x).width != of<Rnn>(r).in) return bad;
  *work = work_bytes(of<Rnn>(r), of<Data>(x)), *reserve = reserve_bytes(of<Rnn>(r), of<Data>(x));
  return good;
}
cudnnStatus_t weight_bytes(cudnnHandle_t, cudnnRNNDescriptor_t r, std::size_t* bytes) {
  return *bytes = of<Rnn>(r).weight_bytes(), good;
}
cudnnStatus_t weight_at(cudnnHandle_t, cudnnRNNDescriptor_t r, std::int32_t layer, std::size_t bytes, const void* space,
                        std::int32_t id, cudnnTensorDescriptor_t matrix, void** at, cudnnTensorDescriptor_t bias,
                        void** bias_at) {
  const Rnn& rnn = of<Rnn>(r);
  if (layer != 0 || bytes != rnn.weight_bytes() || id < 0 || id >= 2 * rnn.gates() || !matrix || !bias) return bad;
  float* const begin = const_cast<float*>(static_cast<const float*>(space));
  return *at = begin + rnn.matrix_at(id), *bias_at = begin + rnn.bias_at(id), good;
}

// A call's operands, and the loops over its numbers.
struct Call {
  Rnn r;
  Data x_size;
  const float *x, *h0, *c0;
  float *y, *weights, *reserve;

  i64 units() const { return r.units; }
  // Of a row of a step: the numbers that are kept of each gate, and one more.
  float& kept(i64 t, i64 b, int gate, i64 unit) const {
    return reserve[header + ((t * x_size.batch + b) * (r.gates() + 1) + gate) * r.units + unit];
  }
  double h(i64 t, i64 b, i64 unit) const {
    return t < 0 ? h0[b * r.units + unit] : y[(t * x_size.batch + b) * r.units + unit];
  }
  double input(i64 t, i64 b, i64 k) const { return x[(t * x_size.batch + b) * r.in + k]; }
  float* matrix(int id) const { return weights + r.matrix_at(id); }
  float& bias(int id, i64 unit) const { return weights[r.bias_at(id) + unit]; }
  double of_input(i64 t, i64 b, int gate, i64 unit) const {
    double sum = bias(gate, unit);
    for (i64 k = 0; k < r.in; ++k) sum += matrix(gate)[unit * r.in + k] * input(t, b, k);
    return sum;
  }
  double of_state(i64 t, i64 b, int gate, i64 unit) const {
    const int id = r.gates() + gate;
    double sum = bias(id, unit);
    for (i64 k = 0; k < r.units; ++k) sum += matrix(id)[unit * r.units + k] * h(t - 1, b, k);
    return sum;
  }
  double cell(i64 t, i64 b, i64 unit) const { return t < 0 ? c0[b * r.units + unit] : kept(t, b, 4, unit); }
};
double logistic(double x) { return 1 / (1 + std::exp(-x)); }
float rounded(double x) { return static_cast<float>(x); }
template <class F>
void for_rows(const Call& c, i64 t, const F& f) {
  for (i64 b = 0; b < c.x_size.batch; ++b)
    for (i64 j = 0; j < c.units(); ++j) f(b, j, (t * c.x_size.batch + b) * c.units() + j);
}

void run_forward(const Call& c, float* hy, float* cy) {
  for (i64 t = 0; t < c.x_size.steps; ++t)
    for_rows(c, t, [&](i64 b, i64 j, i64 at) {
      const auto sum = [&](int gate) { return c.of_input(t, b, gate, j) + c.of_state(t, b, gate, j); };
      if (c.r.is_gru) {
        const double reset = logistic(sum(0)), update = logistic(sum(1)), from_state = c.of_state(t, b, 2, j);
        const double fresh = std::tanh(c.of_input(t, b, 2, j) + reset * from_state);
        const double all[] = {reset, update, fresh, from_state};
        for (int k = 0; k < 4; ++k) c.kept(t, b, k, j) = rounded(all[k]);
        c.y[at] = rounded((1 - update) * fresh + update * c.h(t - 1, b, j));
      } else {
        const double i = logistic(sum(0)), f = logistic(sum(1)), g = std::tanh(sum(2)), o = logistic(sum(3));
        const double state = f * c.cell(t - 1, b, j) + i * g, all[] = {i, f, g, o, state};
        for (int k = 0; k < 5; ++k) c.kept(t, b, k, j) = rounded(all[k]);
        c.y[at] = rounded(o * std::tanh(state));
      }
    });
  const i64 last = c.x_size.steps - 1;
  for_rows(c, 0, [&](i64 b, i64 j, i64 at) {
    hy[at] = rounded(c.h(last, b, j));
    if (!c.r.is_gru) cy[at] = rounded(c.cell(last, b, j));
  });
  c.reserve[0] = trained;
}

// Replaces what is kept by the gradients of the gates' sums; the last one of a GRU: of the state's part of the
// candidate.
struct Upstream {
  const float *y, *h, *c;
};
void run_backward(const Call& c, const Upstream& g, float* dx, float* dh0, float* dc0) {
  const i64 u = c.units(), state = c.x_size.batch * u;
  std::vector<double> dh(g.h, g.h + state), dc(static_cast<std::size_t>(state));
  if (!c.r.is_gru) dc.assign(g.c, g.c + state);
  const int last = c.r.is_gru ? 3 : 4;
  for (i64 t = c.x_size.steps - 1; t >= 0; --t) {
    std::vector<double> down(static_cast<std::size_t>(state));
    for_rows(c, t, [&](i64 b, i64 j, i64 at) {
      const auto k = static_cast<std::size_t>(b * u + j);
      const double up = dh[k] + g.y[at];
      const auto v = [&](int gate) -> double { return c.kept(t, b, gate, j); };
      double sums[4];
      if (c.r.is_gru) {
        const double reset = v(0), update = v(1), fresh = v(2), da = up * (1 - update) * (1 - fresh * fresh);
        sums[0] = da * v(3) * reset * (1 - reset);
        sums[1] = up * (c.h(t - 1, b, j) - fresh) * update * (1 - update);
        sums[2] = da, sums[3] = da * reset, down[k] = up * update;
      } else {
        const double i = v(0), f = v(1), n = v(2), o = v(3), tanh_c = std::tanh(v(4));
        const double d = dc[k] + up * o * (1 - tanh_c * tanh_c);
        sums[0] = d * n * i * (1 - i), sums[1] = d * c.cell(t - 1, b, j) * f * (1 - f);
        sums[2] = d * i * (1 - n * n), sums[3] = up * tanh_c * o * (1 - o), dc[k] = d * f;
      }
      for (int gate = 0; gate < 4; ++gate) c.kept(t, b, gate, j) = rounded(sums[gate]);
    });
    for_rows(c, t, [&](i64 b, i64 j, i64) {
      for (int gate = 0; gate < c.r.gates(); ++gate)
        for (i64 k = 0; k < u; ++k)
          down[static_cast<std::size_t>(b * u + k)] +=
              double(c.kept(t, b, c.r.is_gru && gate == 2 ? 3 : gate, j)) * c.matrix(c.r.gates() + gate)[j * u + k];
    });
    dh = down;
    for (i64 b = 0; b < c.x_size.batch; ++b)
      for (i64 k = 0; k < c.r.in; ++k) {
        double sum = 0;
        for (int gate = 0; gate < c.r.gates(); ++gate)
          for (i64 j = 0; j < u; ++j) sum += double(c.kept(t, b, gate, j)) * c.matrix(gate)[j * c.r.in + k];
        dx[(t * c.x_size.batch + b) * c.r.in + k] = rounded(sum);
      }
  }
  for (i64 k = 0; k < state; ++k) dh0[k] = rounded(dh[static_cast<std::size_t>(k)]);
  if (last == 4)
    for (i64 k = 0; k < state; ++k) dc0[k] = rounded(dc[static_cast<std::size_t>(k)]);
  c.reserve[0] = propagated;
}
void run_weights(const Call& c) {
  for (i64 t = 0; t < c.x_size.steps; ++t)
    for_rows(c, t, [&](i64 b, i64 j, i64) {
      for (int gate = 0; gate < c.r.gates(); ++gate) {
        const int id = c.r.gates() + gate;
        const float d = c.kept(t, b, gate, j), of_state = c.kept(t, b, c.r.is_gru && gate == 2 ? 3 : gate, j);
        for (i64 k = 0; k < c.r.in; ++k) c.matrix(gate)[j * c.r.in + k] += rounded(d * c.input(t, b, k));
        for (i64 k = 0; k < c.r.units; ++k) c.matrix(id)[j * c.r.units + k] += rounded(of_state * c.h(t - 1, b, k));
        c.bias(gate, j) += d, c.bias(id, j) += of_state;
      }
    });
}

// Whether all pointers are of the device; the cell's are null for a GRU.
template <class... P>
bool on_device(const P*... p) {
  return (emulator::is_device(p) && ...);
}
template <class... P>
bool are_cells(const Rnn& r, const P*... p) {
  return r.is_gru ? (!p && ...) : on_device(p...);
}
struct Rooms {
  const void* weights;
  std::size_t weight_bytes;
  void* work;
  std::size_t work_bytes;
  void* reserve;
  std::size_t reserve_bytes;
};
bool fits(const Rnn& r, const Data& x, const Data& y, const State3& h, const Rooms& at) {
  return r.is_set && x.width == r.in && y.width == r.units && x.steps == y.steps && x.batch == y.batch &&
         h.size[0] == 1 && h.size[1] == x.batch && h.size[2] == r.units && at.weight_bytes == r.weight_bytes() &&
         at.work_bytes == work_bytes(r, x) && at.reserve_bytes == reserve_bytes(r, x) &&
         on_device(at.weights, at.work, at.reserve);
}
template <class F>
cudnnStatus_t submit(cudnnHandle_t handle, const Rooms& at, State needs, const F& f) {
  cudaStream_t const stream = of<Handle>(handle).stream;
  if (!stream) return bad;
  emulator::submit(stream, [=] {
    const emulator::Unlocked unlocked;
    std::memset(at.work, 0xff, at.work_bytes);
    if (needs && static_cast<const float*>(at.reserve)[0] != static_cast<float>(needs))
      std::memset(at.reserve, 0xff, at.reserve_bytes);
    f();
  });
  return good;
}
float* numbers(const void* p) { return const_cast<float*>(static_cast<const float*>(p)); }

cudnnStatus_t forward(cudnnHandle_t handle, cudnnRNNDescriptor_t r, cudnnForwardMode_t mode,
                      const std::int32_t* lengths, cudnnRNNDataDescriptor_t x_desc, const void* x,
                      cudnnRNNDataDescriptor_t y_desc, void* y, cudnnTensorDescriptor_t h, const void* hx, void* hy,
                      cudnnTensorDescriptor_t, const void* cx, void* cy, std::size_t weight_size, const void* weights,
                      std::size_t work_size, void* work, std::size_t reserve_size, void* reserve) {
  const Rnn rnn = of<Rnn>(r);
  const Data size = of<Data>(x_desc);
  const Rooms at{weights, weight_size, work, work_size, reserve, reserve_size};
  if (mode != CUDNN_FWD_MODE_TRAINING || lengths || !fits(rnn, size, of<Data>(y_desc), of<State3>(h), at) ||
      !on_device(x, y, hx, hy) || !are_cells(rnn, cx, cy))
    return bad;
  const Call c{rnn, size, numbers(x), numbers(hx), numbers(cx), numbers(y), numbers(weights), numbers(reserve)};
  return submit(handle, at, State(), [=] { run_forward(c, numbers(hy), numbers(cy)); });
}
cudnnStatus_t backward_data(cudnnHandle_t handle, cudnnRNNDescriptor_t r, const std::int32_t* lengths,
                            cudnnRNNDataDescriptor_t y_desc, const void* y, const void* dy,
                            cudnnRNNDataDescriptor_t x_desc, void* dx, cudnnTensorDescriptor_t h, const void* hx,
                            const void* dhy, void* dhx, cudnnTensorDescriptor_t, const void* cx, const void* dcy,
                            void* dcx, std::size_t weight_size, const void* weights, std::size_t work_size, void* work,
                            std::size_t reserve_size, void* reserve) {
  const Rnn rnn = of<Rnn>(r);
  const Data size = of<Data>(x_desc);
  const Rooms at{weights, weight_size, work, work_size, reserve, reserve_size};
  if (lengths || !fits(rnn, size, of<Data>(y_desc), of<State3>(h), at) || !on_device(y, dy, dx, hx, dhy, dhx) ||
      !are_cells(rnn, cx, dcy, dcx))
    return bad;
  const Call c{rnn, size, nullptr, numbers(hx), numbers(cx), numbers(y), numbers(weights), numbers(reserve)};
  const Upstream g{numbers(dy), numbers(dhy), numbers(dcy)};
  return submit(handle, at, trained, [=] { run_backward(c, g, numbers(dx), numbers(dhx), numbers(dcx)); });
}
cudnnStatus_t backward_weights(cudnnHandle_t handle, cudnnRNNDescriptor_t r, cudnnWgradMode_t mode,
                               const std::int32_t* lengths, cudnnRNNDataDescriptor_t x_desc, const void* x,
                               cudnnTensorDescriptor_t h, const void* hx, cudnnRNNDataDescriptor_t y_desc,
                               const void* y, std::size_t weight_size, void* weights, std::size_t work_size, void* work,
                               std::size_t reserve_size, void* reserve) {
  const Rnn rnn = of<Rnn>(r);
  const Data size = of<Data>(x_desc);
  const Rooms at{weights, weight_size, work, work_size, reserve, reserve_size};
  if (mode != CUDNN_WGRAD_MODE_ADD || lengths || !fits(rnn, size, of<Data>(y_desc), of<State3>(h), at) ||
      !on_device(x, hx, y))
    return bad;
  const Call c{rnn, size, numbers(x), numbers(hx), nullptr, numbers(y), numbers(weights), numbers(reserve)};
  return submit(handle, at, propagated, [=] { run_weights(c); });
}

auto& library = *new tandem::cuda::Library<tandem::cuda::CudnnRnn>{
    {.error_string = [](cudnnStatus_t) { return "an emulated error"; },
     .last_error = [](char* text, std::size_t) { *text = 0; },
     .create = &make<Handle, cudnnHandle_t>,
     .set_stream = [](cudnnHandle_t h, cudaStream_t s) { return of<Handle>(h).stream = s, good; },
     .desc_create = &make<Rnn, cudnnRNNDescriptor_t>,
     .desc_destroy = &destroy<Rnn, cudnnRNNDescriptor_t>,
     .desc_set = &desc_set,
     .dropout_create = &make<Handle, cudnnDropoutDescriptor_t>,
     .dropout_destroy = &destroy<Handle, cudnnDropoutDescriptor_t>,
     .dropout_set = [](cudnnDropoutDescriptor_t, cudnnHandle_t, float part, void*, std::size_t,
                       unsigned long long) { return part == 0 ? good : bad; },
     .data_create = &make<Data, cudnnRNNDataDescriptor_t>,
     .data_destroy = &destroy<Data, cudnnRNNDataDescriptor_t>,
     .data_set = &data_set,
     .tensor_create = &make<State3, cudnnTensorDescriptor_t>,
     .tensor_destroy = &destroy<State3, cudnnTensorDescriptor_t>,
     .tensor_set = &tensor_set,
     .weight_bytes = &weight_bytes,
     .weight_at = &weight_at,
     .temporary_bytes = &temporary_bytes,
     .forward = &forward,
     .backward_data = &backward_data,
     .backward_weights = &backward_weights},
    {}};

}  // namespace

namespace emulator {
void hide_recurrences(bool hidden) { library.error = hidden ? "libcudnn.so.9 cannot be opened" : ""; }
void fail_recurrence_plans(int count) { failures = count; }
}  // namespace emulator

namespace TANDEM_NS::cuda {
const Library<CudnnRnn>& cudnn_rnn() { return library; }
}  // namespace TANDEM_NS::cuda

#endif
