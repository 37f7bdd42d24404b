// Parts shared by the lstm and gru ops and layers: shape rules, the call of the backward op, masks for rows that end
// early.
#pragma once
#include <vector>

#include "tandem/core/apply.hpp"

namespace TANDEM_NS {

struct RnnGradAttrs {
  bool input;  // whether x's gradient is requested; the first layer's input rarely has one
  static constexpr auto fields = field_list(field("input", &RnnGradAttrs::input));
};

namespace detail {

/// Checks x [t, b, i], `states` of [b, u], kernel [i, gates u], recurrent kernel [u, gates u], bias, lengths [b].
void check_rnn(const InferCall& c, int gates, int states, Shape bias);
/// The shape rule of the backward ops: returns the specs of the forward op's inputs, without x's if its gradient is
/// not requested.
Specs infer_rnn_grad(const InferCall& c);
/// Computes the gradients of the first `inputs` inputs by calling the backward op `grad` with the operands `all`.
Grads rnn_gradient(const OpDef& grad, const InlinedVector<Tensor, 16>& all, const GradCall& c, unsigned inputs);
/// The gradient of output i, or zeros if there is none.
Tensor upstream_or_zeros(const GradCall& c, std::size_t i);

/// A mask of the rows that are still running at step t.
class StepMask {
 public:
  StepMask(const Tensor& lengths, i64 t);
  Tensor choose(const Tensor& running, const Tensor& ended) const;
  Tensor or_zero(const Tensor& running) const;

 private:
  Tensor runs_;
};
/// x [t, b, ...] with 0 past the rows' lengths; x if they are unset. Gradients of weights sum over all steps, and 0
/// times what is not finite would be NaN.
Tensor within_lengths(const Tensor& x, const Tensor& lengths);
/// Stacks the outputs of all steps to [t, b, u]. For zero steps returns the empty tensor of that shape.
Tensor stack_steps(const std::vector<Tensor>& outputs, const Tensor& x, const Tensor& h);

}  // namespace detail
}  // namespace TANDEM_NS
