// GradientAccumulator: one update by the mean gradients of several batches, for steps of one's own.
#pragma once
#include <vector>

#include "tandem/optim/optimizer.hpp"
#include "tandem/optim/slots.hpp"

namespace TANDEM_NS::train {

/// An optimizer that is called once for several batches, with the means of their gradients. For a Trainer with a step
/// of one's own and for loops; TrainerOptions::accumulate_steps does the same for a model. Copies are handles to the
/// same sums. A Module: a checkpoint saves the sums, and the optimizer beside it.
///
///   const train::GradientAccumulator four(adam, 4);
///   train::Trainer trainer({{"net", net}, {"adam", adam}, {"sums", four}}, [=](const Tensor& x) -> train::Outputs {
///     GradientTape tape;
///     const Tensor loss = reduce_mean(square(net(x)));
///     const std::vector<Variable> weights = net.trainable_variables();
///     four.apply_gradients(tape.gradient(loss, weights), weights);
///     return {{"loss", loss}};
///   });
class TANDEM_API GradientAccumulator : public Module {
 public:
  ///   steps   batches of an update
  ///   throws  errors::InvalidArgumentError for steps below 1
  GradientAccumulator(const Optimizer& optimizer, i64 steps);
  /// Adds the gradients of a batch to the sums, in float32 those of half precision. With those of the last batch of an
  /// update, the optimizer gets the means; one that is not set, in a batch or in all, counts as zeros. The same
  /// Variables each time, in a traced function or not.
  ///   throws  errors::InvalidArgumentError if the lists differ in length, or a Variable is not floating; as
  ///           Optimizer::apply_gradients
  void apply_gradients(const std::vector<Gradient>& gradients, const std::vector<Variable>& variables) const;
  /// Creates the sums and the optimizer's slots now; the first apply_gradients() does it otherwise.
  void build(const std::vector<Variable>& variables) const;
  /// The batches that were added since the last update, an int64 scalar.
  const Variable& batches() const { return batches_; }

 private:
  Variable sum_of(const Variable& variable) const;
  Optimizer optimizer_;
  i64 steps_;
  Variable batches_;
  Ref<tandem::detail::Slots> slots_;
};

}  // namespace TANDEM_NS::train
