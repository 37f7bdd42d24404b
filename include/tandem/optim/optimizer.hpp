// Optimizers: SGD (momentum, Nesterov), RMSprop, Adam. The learning rate, step count and slots are Variables, so a
// traced training step does not bake them in as constants. A row-sparse gradient updates only its own rows, of both
// weights and slots (lazy update).
#pragma once
#include <concepts>
#include <span>
#include <vector>

#include "tandem/autodiff/tape.hpp"
#include "tandem/core/indexed_slices.hpp"
#include "tandem/core/module.hpp"
#include "tandem/ops/optim/rules.hpp"

namespace TANDEM_NS {

namespace detail {

// A learning rate passed by position; {} does not match.
template <class R>
concept Rate = std::is_arithmetic_v<R> && !std::same_as<R, bool>;

/// The update ops of an optimizer and the names of its slots.
struct UpdateRule {
  const OpDef *dense, *sparse;
  std::span<const char* const> slots;
};

}  // namespace detail

#define TANDEM_UPDATE_OPS(name, Rule) extern TANDEM_API const OpDef name##_op, name##s_op, name##_sparse_op;
TANDEM_FOR_EACH_UPDATE(TANDEM_UPDATE_OPS)
#undef TANDEM_UPDATE_OPS
#define TANDEM_UPDATE_OPS(name, Rule) &name##_op, &name##s_op, &name##_sparse_op,
inline constexpr const OpDef* update_ops[] = {TANDEM_FOR_EACH_UPDATE(TANDEM_UPDATE_OPS)};
#undef TANDEM_UPDATE_OPS

/// The base class of optimizers; construct one of optimizers::*. Copies are handles to the same state.
class TANDEM_API Optimizer : public Module {
 public:
  struct GradientAndVariable {
    Gradient gradient;
    Variable variable;
  };

  /// Applies one update step. Unset gradients are skipped.
  ///   throws  errors::InvalidArgumentError if there are no variables, all gradients are unset, the lists differ in
  ///           length, or the shape or dtype of a gradient does not match its variable; nothing is changed then
  void apply_gradients(const std::vector<Gradient>& gradients, const std::vector<Variable>& variables) const;
  void apply_gradients(const std::vector<GradientAndVariable>& pairs) const;
  template <std::same_as<Tensor> T>  // a template: {dw, db} is a list of Gradients
  void apply_gradients(const std::vector<T>& gradients, const std::vector<Variable>& variables) const {
    apply_gradients(std::vector<Gradient>(gradients.begin(), gradients.end()), variables);
  }
  template <std::size_t N, std::size_t M>
    requires(N != M)
  void apply_gradients(const Gradients<N>&, const Variable (&)[M]) const = delete;  // the lists differ in length
  /// Runs loss() under a tape, applies one update step with its gradients and returns the loss.
  template <std::invocable F>
  Tensor minimize(F&& loss, const std::vector<Variable>& variables) const {
    GradientTape tape;
    const Tensor y = std::forward<F>(loss)();
    apply_gradients(tape.gradient(y, variables), variables);
    return y;
  }
  /// Creates the slots now instead of at the first apply_gradients, as required before a checkpoint is read.
  void build(const std::vector<Variable>& variables) const;

  /// The learning rate, a float32 scalar; assign to it to change the rate.
  const Variable& learning_rate() const { return learning_rate_; }
  /// The number of completed steps, an int64 scalar.
  const Variable& iterations() const { return iterations_; }

 protected:
  Optimizer(detail::UpdateRule rule, const Attrs& attrs, double learning_rate);

 private:
  struct Slots;
  std::span<const Variable> slots_of(const Variable& v) const;
  using State = std::span<const Variable>;  // a weight and its slots
  void apply_one(const Gradient& g, State state, const Tensor& lr, const Tensor& step) const;
  void apply_together(std::span<const Gradient> gradients, std::span<const State> states, const Tensor& lr,
                      const Tensor& step) const;
  detail::UpdateRule rule_;
  Attrs attrs_;
  Variable learning_rate_, iterations_;
  Ref<Opaque> slots_;  // a Slots
};

namespace optimizers {

struct SGDOptions {
  double learning_rate = 0.01;
  double momentum = 0;
  bool nesterov = false;
};
/// Stochastic gradient descent: w -= lr g; with momentum v = m v - lr g, w += v.
class TANDEM_API SGD : public Optimizer {
 public:
  explicit SGD(SGDOptions options = {});
  template <detail::Rate R>
  explicit SGD(R learning_rate, double momentum = 0, bool nesterov = false)
      : SGD(SGDOptions{
            .learning_rate = static_cast<double>(learning_rate), .momentum = momentum, .nesterov = nesterov}) {}
};

struct RMSpropOptions {
  double learning_rate = 0.001;
  double rho = 0.9;
  double momentum = 0;
  double epsilon = 1e-7;
  bool centered = false;
};
/// RMSprop: v = rho v + (1 - rho) g^2; w -= lr g / sqrt(v + eps).
class TANDEM_API RMSprop : public Optimizer {
 public:
  explicit RMSprop(RMSpropOptions options = {});
  template <detail::Rate R>
  explicit RMSprop(R learning_rate, double rho = 0.9, double momentum = 0)
      : RMSprop(RMSpropOptions{.learning_rate = static_cast<double>(learning_rate), .rho = rho, .momentum = momentum}) {
  }
};

struct AdamOptions {
  double learning_rate = 0.001;
  double beta_1 = 0.9;
  double beta_2 = 0.999;
  double epsilon = 1e-7;
};
/// Adam (Kingma & Ba 2015).
class TANDEM_API Adam : public Optimizer {
 public:
  explicit Adam(AdamOptions options = {});
  template <detail::Rate R>
  explicit Adam(R learning_rate, double beta_1 = 0.9, double beta_2 = 0.999)
      : Adam(AdamOptions{.learning_rate = static_cast<double>(learning_rate), .beta_1 = beta_1, .beta_2 = beta_2}) {}
};

}  // namespace optimizers
}  // namespace TANDEM_NS
