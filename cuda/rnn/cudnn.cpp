// LSTM and GRU by cuDNN: its descriptors of a problem, which are kept, and its calls. The standard algorithm, without
// TF32. Rows are of one length, so a batch is the same packed or padded.
#include "cuda/rnn/cudnn.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "cuda/conv/descriptor.hpp"
#include "cuda/driver/capture.hpp"
#include "cuda/driver/device.hpp"
#include "cuda/driver/driver.hpp"
#include "cuda/layout/copy.hpp"
#include "cuda/rnn/pack.hpp"
#include "tandem/base/error.hpp"
#include "tandem/ops/cuda_kernels.hpp"

namespace TANDEM_NS::cuda {
namespace {

std::atomic<u64> recurrences{0};

std::atomic<bool>& is_used() {
  static std::atomic<bool> used{[] {
    const char* const value = std::getenv("TANDEM_CUDNN_RNN");
    return value && value[0] == '1' && !value[1];
  }()};
  return used;
}

#if TANDEM_WITH_CUDNN

constexpr std::size_t most_plans = 1024;

struct Problem {
  RnnCell cell;
  i64 steps, batch, in, units;

  Problem(RnnCell kind, const Shape& x, i64 hidden)
      : cell(kind), steps(x.dim(0)), batch(x.dim(1)), in(x.dim(2)), units(hidden) {}
  int gates() const { return cell == RnnCell::lstm ? 4 : 3; }
  std::size_t states() const { return cell == RnnCell::lstm ? 2 : 1; }
  std::array<i64, 5> key() const { return {static_cast<i64>(cell), steps, batch, in, units}; }
  // Whether there is something to compute, and all sizes fit 32 bits.
  bool fits() const {
    constexpr i64 most = std::numeric_limits<std::int32_t>::max();
    i64 numbers = 1, weights = gates();
    for (const i64 n : {steps, batch, std::max(in, gates() * units)})
      if (n <= 0 || __builtin_mul_overflow(numbers, n, &numbers)) return false;
    return in > 0 && units > 0 && !__builtin_mul_overflow(weights, in + units, &weights) &&
           !__builtin_mul_overflow(weights, units, &weights) && numbers <= most && weights <= most;
  }
};

// cuDNN's number of a gate of the input: an LSTM has ours; a GRU's are r, z, h.
int number_of(RnnCell cell, int gate) { return cell == RnnCell::gru && gate < 2 ? 1 - gate : gate; }

// The descriptors of a problem and the sizes, in bytes, that cuDNN asks for.
class Plan {
 public:
  Plan(const CudnnRnn& functions, const Problem& problem) : f(functions), p(problem) {}
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;
  ~Plan() {
    if (rnn) (void)f.desc_destroy(rnn);
    if (dropout) (void)f.dropout_destroy(dropout);
    for (const cudnnRNNDataDescriptor_t d : {x, y})
      if (d) (void)f.data_destroy(d);
    for (const cudnnTensorDescriptor_t d : {h, matrix, bias})
      if (d) (void)f.tensor_destroy(d);
  }

  cudnnStatus_t make(cudnnHandle_t handle) {
    cudnnStatus_t s = create();
    if (s == CUDNN_STATUS_SUCCESS) s = set(handle);
    if (s == CUDNN_STATUS_SUCCESS) s = f.weight_bytes(handle, rnn, &weights);
    if (s == CUDNN_STATUS_SUCCESS) s = f.temporary_bytes(handle, rnn, CUDNN_FWD_MODE_TRAINING, x, &workspace, &reserve);
    return s;
  }
  // Finds where the weights lie, by the first space that is used.
  cudnnStatus_t find_weights(cudnnHandle_t handle, const void* space) {
    if (packing) return CUDNN_STATUS_SUCCESS;
    RnnPacking r{p.in, p.units, p.gates(), {}, {}};
    const auto offset = [&](const void* at) {
      return (static_cast<const char*>(at) - static_cast<const char*>(space)) / static_cast<i64>(sizeof(float));
    };
    for (int k = 0; k < 2 * r.gates; ++k) {
      const int number = number_of(p.cell, k % r.gates) + (k < r.gates ? 0 : r.gates);
      void *at_matrix = nullptr, *at_bias = nullptr;
      const cudnnStatus_t s = f.weight_at(handle, rnn, 0, weights, space, number, matrix, &at_matrix, bias, &at_bias);
      if (s != CUDNN_STATUS_SUCCESS) return s;
      if (!at_matrix || !at_bias) return CUDNN_STATUS_NOT_SUPPORTED;
      r.matrix[k] = offset(at_matrix), r.bias[k] = offset(at_bias);
    }
    packing = std::make_unique<RnnPacking>(r);
    return CUDNN_STATUS_SUCCESS;
  }

  const CudnnRnn& f;
  const Problem p;
  cudnnRNNDescriptor_t rnn = nullptr;
  cudnnDropoutDescriptor_t dropout = nullptr;
  cudnnRNNDataDescriptor_t x = nullptr, y = nullptr;
  cudnnTensorDescriptor_t h = nullptr, matrix = nullptr, bias = nullptr;
  std::size_t weights = 0, workspace = 0, reserve = 0;
  std::unique_ptr<const RnnPacking> packing;

 private:
  cudnnStatus_t create() {
    cudnnStatus_t s = f.desc_create(&rnn);
    if (s == CUDNN_STATUS_SUCCESS) s = f.dropout_create(&dropout);
    for (cudnnRNNDataDescriptor_t* const d : {&x, &y})
      if (s == CUDNN_STATUS_SUCCESS) s = f.data_create(d);
    for (cudnnTensorDescriptor_t* const d : {&h, &matrix, &bias})
      if (s == CUDNN_STATUS_SUCCESS) s = f.tensor_create(d);
    return s;
  }
  cudnnStatus_t set(cudnnHandle_t handle) {
    const int units = narrow(p.units), batch = narrow(p.batch), state[] = {1, batch, units},
              strides[] = {batch * units, units, 1};
    cudnnStatus_t s = f.dropout_set(dropout, handle, 0, nullptr, 0, 0);
    if (s == CUDNN_STATUS_SUCCESS)
      s = f.desc_set(rnn, CUDNN_RNN_ALGO_STANDARD, p.cell == RnnCell::lstm ? CUDNN_LSTM : CUDNN_GRU,
                     CUDNN_RNN_DOUBLE_BIAS, CUDNN_UNIDIRECTIONAL, CUDNN_LINEAR_INPUT, CUDNN_DATA_FLOAT,
                     CUDNN_DATA_FLOAT, CUDNN_FMA_MATH, narrow(p.in), units, units, 1, dropout,
                     CUDNN_RNN_PADDED_IO_DISABLED);
    if (s == CUDNN_STATUS_SUCCESS) s = set_data(x, p.in);
    if (s == CUDNN_STATUS_SUCCESS) s = set_data(y, p.units);
    if (s == CUDNN_STATUS_SUCCESS) s = f.tensor_set(h, CUDNN_DATA_FLOAT, 3, state, strides);
    return s;
  }
  cudnnStatus_t set_data(cudnnRNNDataDescriptor_t d, i64 width) {
    const std::vector<int> lengths(static_cast<std::size_t>(p.batch), narrow(p.steps));
    return f.data_set(d, CUDNN_DATA_FLOAT, CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED, narrow(p.steps), narrow(p.batch),
                      narrow(width), lengths.data(), nullptr);
  }
  static int narrow(i64 n) { return static_cast<int>(n); }
};

// What a device keeps. The lock is held while an op is launched, because the stream is the handle's.
struct Kept {
  std::mutex mutex;
  cudnnHandle_t handle = nullptr;
  bool unsupported = false;                                   // the device, or its driver
  std::map<std::array<i64, 5>, std::unique_ptr<Plan>> plans;  // null: cuDNN does not support the problem
};
Kept& kept_of(int device) {
  static Kept* const all = new Kept[max_devices];
  return all[device];
}

// Returns false for what cuDNN does not support, which does not change. Raises what else is wrong, such as a lack of
// memory or the failure of a kernel that ran before.
bool is_supported(const CudnnRnn& f, cudnnStatus_t s, const char* op, const char* what) {
  if (s == CUDNN_STATUS_SUCCESS) return true;
  if (!is_unsupported(s)) raise_cudnn(f, op, what, s);
  check(cudaGetLastError(), op, "cuDNN");
  return false;
}
// The plan, or null if cuDNN does not support the problem. The lock is held.
Plan* plan_of(Kept& kept, const CudnnRnn& f, const Problem& p, int device, const char* op) {
  if (kept.unsupported || !p.fits()) return nullptr;
  use_device(device);
  if (!kept.handle) {
    cudnnHandle_t handle = nullptr;
    kept.unsupported = !is_supported(f, f.create(&handle), op, "handle");
    if (kept.unsupported) return nullptr;
    kept.handle = handle;
  }
  const auto at = kept.plans.find(p.key());
  if (at != kept.plans.end()) return at->second.get();
  if (kept.plans.size() >= most_plans) kept.plans.clear();
  auto plan = std::make_unique<Plan>(f, p);
  if (!is_supported(f, plan->make(kept.handle), op, "descriptors")) plan.reset();
  return kept.plans.emplace(p.key(), std::move(plan)).first->second.get();
}

// The plan of a call, while no other thread uses the device's handle, with the weights in cuDNN's order.
class Session {
 public:
  Session(const KernelCall& c, RnnCell cell)
      : c_(not_captured(c)),
        kept_(kept_of(queue_of(c).device)),
        lock_(kept_.mutex),
        plan_(found(cell)),
        weights_(c, plan_.weights),
        room_(c, std::max<std::size_t>(plan_.workspace, 1)) {
    const std::size_t first = 1 + plan_.p.states();
    check(plan_.f.set_stream(kept_.handle, queue_of(c).stream), "stream");
    check(plan_.find_weights(kept_.handle, weights_.as<void>()), "weights");
    pack_rnn(c, *plan_.packing,
             {c.in[first].as<const float>(), c.in[first + 1].as<const float>(), c.in[first + 2].as<const float>(),
              c.in[first + 2].size()},
             weights_.as<float>());
  }
  const Plan& plan() const { return plan_; }
  cudnnHandle_t handle() const { return kept_.handle; }
  void* weights() const { return weights_.as<void>(); }
  void* room() const { return room_.as<void>(); }

  void check(cudnnStatus_t s, const char* what) const {
    if (s != CUDNN_STATUS_SUCCESS) raise_cudnn(plan_.f, c_.op, what, s);
  }

 private:
  // cuDNN may launch on streams of its own. They would stay in the capture until that ends, longer than the lock is
  // held.
  static const KernelCall& not_captured(const KernelCall& c) {
    if (Capture::current(queue_of(c).device))
      errors::raise<errors::UnimplementedError>(c.op, "calls of cuDNN's recurrent functions cannot be captured");
    return c;
  }
  Plan& found(RnnCell cell) const {
    const Library<CudnnRnn>& l = cudnn_rnn();
    const Problem p(cell, c_.in[0].shape(), c_.in[1].shape()[1]);
    Plan* const plan = l.is_open() ? plan_of(kept_, l.functions, p, queue_of(c_).device, c_.op) : nullptr;
    if (!plan)
      errors::raise<errors::InvalidArgumentError>(
          c_.op, "cuDNN did not make the residuals: " +
                     (l.is_open() ? "it does not support an input " + to_string(c_.in[0].shape()) + " with " +
                                        std::to_string(p.units) + " units on this device"
                                  : l.error));
    return *plan;
  }

  const KernelCall& c_;
  Kept& kept_;
  const std::lock_guard<std::mutex> lock_;
  Plan& plan_;
  const Scratch weights_, room_;
};

void check_reserve(const KernelCall& c, const Plan& p, const Operand& reserve) {
  if (reserve.spec->bytes() < p.reserve)
    errors::raise<errors::InvalidArgumentError>(c.op, "cuDNN did not make the residuals: " + to_string(*reserve.spec));
}

#endif

}  // namespace

#if TANDEM_WITH_CUDNN

i64 rnn_reserve(const Shape& x, i64 units, int device, bool is_gru) {
  if (!is_used().load(std::memory_order_relaxed) || device >= devices().count || !cudnn_rnn().is_open()) return 0;
  for (const i64 n : {x.dim(0), x.dim(1), x.dim(2), units})
    if (n == none) return none;
  const char* const op = is_gru ? "gru" : "lstm";
  const Problem p(is_gru ? RnnCell::gru : RnnCell::lstm, x, units);
  Kept& kept = kept_of(device);
  const std::lock_guard lock(kept.mutex);
  const Plan* const plan = plan_of(kept, cudnn_rnn().functions, p, device, op);
  if (!plan) return 0;
  const i64 row = p.steps * p.batch * static_cast<i64>(sizeof(float)), bytes = static_cast<i64>(plan->reserve);
  return std::max<i64>(1, (bytes + row - 1) / row);
}
void rnn_by_cudnn(const KernelCall& c, RnnCell cell) {
  const Session s(c, cell);
  const Plan& p = s.plan();
  const std::size_t states = p.p.states();
  check_reserve(c, p, c.out[1 + states]);
  const auto cell_state = [&](const Operand& o) { return states > 1 ? o.data : nullptr; };
  s.check(p.f.forward(s.handle(), p.rnn, CUDNN_FWD_MODE_TRAINING, nullptr, p.x, c.in[0].data, p.y, c.out[0].data, p.h,
                      c.in[1].data, c.out[1].data, p.h, cell_state(c.in[2]), cell_state(c.out[2]), p.weights,
                      s.weights(), p.workspace, s.room(), p.reserve, c.out[1 + states].data),
          "forward");
  ++recurrences;
}
void rnn_grad_by_cudnn(const KernelCall& c, RnnCell cell) {
  const Session s(c, cell);
  const Plan& p = s.plan();
  const std::size_t states = p.p.states(), saved = 4 + states;  // y, the reserve space, nothing, dy, dh, dc
  const Operand &y = c.in[saved], &reserve = c.in[saved + 1], &dy = c.in[saved + 3];
  check_reserve(c, p, reserve);
  const auto cell_state = [&](const Operand& o) { return states > 1 ? o.data : nullptr; };
  const bool wants_input = c.out[0].size() > 0;
  const Scratch own(c, std::max<std::size_t>(p.reserve, 1)), gradients(c, p.weights),
      dx(c, wants_input ? 1 : c.in[0].spec->bytes());
  check(cudaMemcpyAsync(own.as<void>(), reserve.data, p.reserve, cudaMemcpyDeviceToDevice, queue_of(c).stream), c.op,
        "copy");  // cuDNN writes into it
  s.check(
      p.f.backward_data(s.handle(), p.rnn, nullptr, p.y, y.data, dy.data, p.x,
                        wants_input ? c.out[0].data : dx.as<void>(), p.h, c.in[1].data, c.in[saved + 4].data,
                        c.out[1].data, p.h, cell_state(c.in[2]), states > 1 ? c.in[saved + 5].data : nullptr,
                        cell_state(c.out[2]), p.weights, s.weights(), p.workspace, s.room(), p.reserve, own.as<void>()),
      "gradients of data");
  fill_zero(c, gradients.as<void>(), p.weights);
  s.check(
      p.f.backward_weights(s.handle(), p.rnn, CUDNN_WGRAD_MODE_ADD, nullptr, p.x, c.in[0].data, p.h, c.in[1].data, p.y,
                           y.data, p.weights, gradients.as<void>(), p.workspace, s.room(), p.reserve, own.as<void>()),
      "gradients of weights");
  const std::size_t first = 1 + states;
  unpack_rnn(
      c, *p.packing, gradients.as<const float>(),
      {c.out[first].as<float>(), c.out[first + 1].as<float>(), c.out[first + 2].as<float>(), c.out[first + 2].size()});
  ++recurrences;
}
bool has_cudnn_rnn() { return cudnn_rnn().is_open(); }

#else

i64 rnn_reserve(const Shape&, i64, int, bool) { return 0; }
void rnn_by_cudnn(const KernelCall& c, RnnCell) {
  errors::raise<errors::InvalidArgumentError>(c.op, "cuDNN did not make the residuals");
}
void rnn_grad_by_cudnn(const KernelCall& c, RnnCell cell) { rnn_by_cudnn(c, cell); }
bool has_cudnn_rnn() { return false; }

#endif

void use_cudnn_rnn(bool use) { is_used() = use; }
u64 cudnn_recurrences() { return recurrences; }

}  // namespace TANDEM_NS::cuda
