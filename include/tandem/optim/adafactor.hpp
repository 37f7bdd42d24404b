// Adafactor, an optimizer that keeps sums over rows and columns in place of an accumulator for each weight. The formula
// and defaults are those of Keras 3.
#pragma once
#include "tandem/optim/optimizer.hpp"

namespace TANDEM_NS::optimizers {

struct AdafactorOptions {
  LearningRate learning_rate = 0.001;  ///< the upper bound of the relative step
  double beta_2_decay = -0.8;          ///< beta = 1 - t^beta_2_decay; not positive
  double epsilon_1 = 1e-30;            ///< added to squares; positive
  double epsilon_2 = 1e-3;             ///< the lower bound of the weights' root mean square, by which steps are scaled
  double clip_threshold = 1;           ///< of the root mean square of u; positive
  TANDEM_OPTIMIZER_OPTIONS;
};
/// Adafactor (Shazeer and Stern 2018, "Adafactor: Adaptive Learning Rates with Sublinear Memory Cost"):
/// v = beta v + (1 - beta) (g^2 + epsilon_1); u = g / sqrt(v);
/// w -= min(lr, 1 / sqrt(t)) max(epsilon_2, rms(w)) u / max(1, rms(u) / clip_threshold), where t counts steps from 1
/// and rms is the root mean square of a tensor. Of a weight with two axes or more it keeps averages in place of v: r of
/// the squares' means over the last axis, c of those over the axis before it; v = r c / mean(r). So a matrix [n, m] has
/// n + m accumulators. As in Keras, 1 / sqrt(t) also bounds the rate of a schedule, whatever its .relative_step is.
///
/// A row-sparse gradient is a dense one with zeros elsewhere: it moves its own rows alone, and the averages of all.
///   throws  errors::UnimplementedError at the first step for a Variable of which other processes have parts
///           (.aggregate = false): the sums are those of the whole one
class TANDEM_API Adafactor : public Optimizer {
 public:
  explicit Adafactor(AdafactorOptions options = {});
  template <tandem::detail::PositionalRate R>
  explicit Adafactor(R learning_rate) : Adafactor(AdafactorOptions{.learning_rate = learning_rate}) {}
};

}  // namespace TANDEM_NS::optimizers
