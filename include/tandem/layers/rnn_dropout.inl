// Definitions of layers/rnn_dropout.hpp: recurrent steps with a mask for each gate.
#pragma once
#include "tandem/layers/rnn_cells.hpp"
#include "tandem/layers/rnn_dropout.hpp"
#include "tandem/layers/rnn_projected.hpp"
#include "tandem/ops/create/fill.hpp"
#include "tandem/ops/linalg/dense.hpp"
#include "tandem/ops/linalg/matmul.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/random/dropout.hpp"
#include "tandem/ops/shape/concat.hpp"
#include "tandem/ops/shape/reshape.hpp"
#include "tandem/ops/shape/shape_of.hpp"
#include "tandem/ops/shape/transpose.hpp"

namespace TANDEM_NS::layers::detail {

// x W + b for all steps, [time, batch, gates u]. If inputs are dropped, each gate sees features of its own.
TANDEM_INLINE Tensor dropped_inputs(const DroppedRun& run, i64 gates, const Tensor& bias) {
  if (run.rate == 0) return nn::dense(run.x, run.w[0], bias);
  const SplitOptions last{.axis = -1};
  const std::vector<Tensor> kernels = split(run.w[0], gates, last);
  const std::vector<Tensor> biases = bias.is_set() ? split(bias, gates, last) : std::vector<Tensor>(kernels.size());
  std::vector<Tensor> parts;
  for (std::size_t i = 0; i < kernels.size(); ++i)
    parts.push_back(nn::dense(drop_inputs(run.x, run.rate), kernels[i], biases[i]));
  return concat(parts, -1);
}

// The recurrent products of a sequence: the part of the recurrent kernel for each gate, and the masks of the state.
class DroppedStates {
 public:
  DroppedStates(const DroppedRun& run, i64 gates) {
    const i64 u = run.w[1].shape().dim(0);
    kernels_ = transpose(reshape(run.w[1], {u, gates, u}), {1, 0, 2});
    masks_ = nn::dropout(ones({gates, get_shape(run.x)[1], u}, run.x.dtype()), {.rate = run.recurrent_rate});
  }
  /// h [batch, u] as each gate sees it, [gates, batch, u].
  Tensor seen(const Tensor& h) const { return h * masks_; }
  /// What each gate sees times its kernel, [batch, u] each.
  std::vector<Tensor> products(const Tensor& h) const { return unstack(matmul(seen(h), kernels_)); }
  const Tensor& kernels() const { return kernels_; }

 private:
  Tensor kernels_, masks_;
};

TANDEM_INLINE RnnSteps<Tensor> simple_rnn_dropped(const DroppedRun& run, const Tensor& start, bool use_bias,
                                                  const tandem::Activation& activation) {
  const DroppedStates states(run, 1);
  return run_projected(run.layer, dropped_inputs(run, 1, use_bias ? run.w[2] : Tensor()), start, run.lengths,
                       [&](const Tensor& z, const Tensor& h) {
                         const tandem::detail::ShapeChecks lenient(false);
                         return activation(z + states.products(h)[0]);
                       });
}
TANDEM_INLINE RnnSteps<nn::LstmState> lstm_dropped(const DroppedRun& run, const nn::LstmState& start,
                                                   const LSTMCellOptions& o) {
  const DroppedStates states(run, 4);
  const Tensors& w = run.w;
  return run_projected(run.layer, dropped_inputs(run, 4, o.use_bias ? w[2] : Tensor()), start, run.lengths,
                       [&](const Tensor& x, const nn::LstmState& s) {
                         const tandem::detail::ShapeChecks lenient(false);
                         std::vector<Tensor> z = split(x, 4, {.axis = -1});
                         const std::vector<Tensor> recurrent = states.products(s.h);
                         for (std::size_t i = 0; i < 4; ++i) z[i] = z[i] + recurrent[i];
                         return lstm_of_sums(std::move(z), s, w, o);
                       });
}
TANDEM_INLINE RnnSteps<Tensor> gru_dropped(const DroppedRun& run, const Tensor& start, const GRUCellOptions& o) {
  const DroppedStates states(run, 3);
  const bool reset_after = o.reset_after;
  const GruBias bias = gru_bias(run.w, o);
  const std::vector<Tensor> inner =
      bias.state.is_set() ? split(bias.state, 3, {.axis = -1}) : std::vector<Tensor>(3, zeros({}, run.x.dtype()));
  return run_projected(
      run.layer, dropped_inputs(run, 3, bias.input), start, run.lengths, [&](const Tensor& x, const Tensor& h) {
        const tandem::detail::ShapeChecks lenient(false);
        const tandem::Activation& gate = o.recurrent_activation.value();
        const std::vector<Tensor> a = split(x, 3, {.axis = -1}), s = states.products(h);
        const Tensor z = gate(a[0] + s[0] + inner[0]), r = gate(a[1] + s[1] + inner[1]);
        const Tensor reset = reset_after ? r * (s[2] + inner[2]) : matmul(r * states.seen(h)[2], states.kernels()[2]);
        const Tensor candidate = o.activation.value()(a[2] + reset);
        return z * (h - candidate) + candidate;
      });
}
TANDEM_INLINE constinit const DroppedCells dropped_cells{&simple_rnn_dropped, &lstm_dropped, &gru_dropped};

}  // namespace TANDEM_NS::layers::detail
