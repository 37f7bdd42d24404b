// Muon, an optimizer that makes the updates of matrices orthogonal. The formula and defaults are those of Keras 3.
#pragma once
#include <optional>
#include <vector>

#include "tandem/optim/optimizer.hpp"

namespace TANDEM_NS::optimizers {

struct MuonOptions {
  LearningRate learning_rate = 0.001;
  double adam_beta_1 = 0.9;
  double adam_beta_2 = 0.999;
  double adam_weight_decay = 0.004;  ///< of the weights that AdamW updates
  double epsilon = 1e-7;             ///< of AdamW
  double weight_decay = 0.004;       ///< of the matrices that Muon updates
  /// Matrices that AdamW updates, usually the last Dense layer's kernel: build the model, then give
  /// head.variables_by_name("kernel"), which is empty before, so that nothing is excluded. (Keras has exclude_layers,
  /// parts of the layers' names.)
  std::vector<Variable> exclude_variables = {};
  bool exclude_embeddings = true;  ///< AdamW updates matrices whose name contains "embedding", too
  double muon_a = 3.4445;          ///< of the polynomial a x + b x^3 + c x^5 of singular values
  double muon_b = -4.775;
  double muon_c = 2.0315;
  double adam_lr_ratio = 1;  ///< AdamW's learning rate divided by .learning_rate; positive
  double momentum = 0.95;
  i64 ns_steps = 5;  ///< how often the polynomial is applied (Newton-Schulz iterations)
  bool nesterov = true;
  std::optional<double> rms_rate = 0.2;  ///< scales the updates by rms_rate sqrt(max(n, m)), which gives them the size
                                         ///< of AdamW's; unset: they are not scaled
  TANDEM_CLIP_OPTIONS;
};
/// Muon (Jordan et al. 2024; the scale by Liu et al. 2025, "Muon is Scalable for LLM Training"). Of a matrix [n, m]:
/// w -= lr weight_decay w; k = momentum k + g; x = k, or with Nesterov momentum k + g; x becomes x / (|x| + 1e-7), then
/// .ns_steps times a x + (b x x' + c (x x')^2) x, which brings its singular values near to 1; w -= lr scale x. Weights
/// of other ranks, embeddings and .exclude_variables are updated as by AdamW.
///
/// A row-sparse gradient of a matrix that Muon updates is a dense one with zeros elsewhere: the whole matrix moves.
///   throws  errors::UnimplementedError at the first step for a matrix of which other processes have parts
///           (.aggregate = false), unless AdamW updates it
class TANDEM_API Muon : public Optimizer {
 public:
  explicit Muon(MuonOptions options = {});
  template <tandem::detail::PositionalRate R>
  explicit Muon(R learning_rate) : Muon(MuonOptions{.learning_rate = learning_rate}) {}
};

}  // namespace TANDEM_NS::optimizers
