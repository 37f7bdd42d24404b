// Parts shared by the lstm and gru ops and layers: shape rules, the call of the backward op, masks for rows that end
// early.
#pragma once
#include <vector>

#include "tandem/core/apply.hpp"

namespace TANDEM_NS {

namespace rules {
struct RnnGradAttrs {
  bool input;  // whether x's gradient is requested; the first layer's input rarely has one
  TANDEM_ATTRS(RnnGradAttrs, input);
};
}  // namespace rules

namespace detail {

/// Checks x [t, b, i], `states` of [b, u], kernel [i, gates u], recurrent kernel [u, gates u], bias, lengths [b].
void check_rnn(const InferCall& c, int gates, int states, Shape bias);
/// The last dimensions of the residuals: those of our kernels, [gates u] and [u]; or what cuDNN leaves, and 0.
struct RnnResiduals {
  i64 gates, second;
};
/// The residuals of x [t, b, i] with or without lengths, and a state of u units.
RnnResiduals rnn_residuals(const Spec& x, i64 units, int gates, bool lengths);
/// The shape rule of the backward ops: returns the specs of the forward op's inputs, without x's if its gradient is
/// not requested.
Specs infer_rnn_grad(const InferCall& c);
/// Computes the gradients of the first `inputs` inputs by calling the backward op `grad` with the operands `all`.
Grads rnn_gradient(const OpDef& grad, const InlinedVector<Tensor, 16>& all, const GradCall& c, unsigned inputs);
/// The gradient of output i, or zeros if there is none.
Tensor upstream_or_zeros(const GradCall& c, std::size_t i);

/// A cell, type-erased: (states..., x of a step) -> the next states; the first one is also the step's output.
struct RnnCell {
  std::vector<Tensor> (*call)(Span<const Tensor> states_and_x, Span<const Tensor> weights);
};
/// x [t, b, ...] with 0 past the rows' lengths; x if they are unset. Gradients of weights sum over all steps, and 0
/// times what is not finite would be NaN.
Tensor within_lengths(const Tensor& x, const Tensor& lengths);
/// The results of an rnn op with basic ops, so that second derivatives need no kernel: the outputs of all steps, then
/// the last states. Over an unknown number of steps it is a loop of the trace.
///   in      x [t, b, i], `states` of [b, u], three weights, and lengths [b] or nothing
Tensors rnn_reference(const char* op, Span<const Tensor> in, std::size_t states, RnnCell cell);

}  // namespace detail
}  // namespace TANDEM_NS
