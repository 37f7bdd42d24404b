// The base class of optimizers, and SGD (momentum, Nesterov), RMSprop, Adam; the others are in optimizers.hpp. The
// learning rate, step count and slots are Variables, so a traced training step does not bake them in as constants. A
// row-sparse gradient updates only its own rows, of both weights and slots (lazy update).
#pragma once
#include <concepts>
#include <string>
#include <vector>

#include "tandem/autodiff/tape.hpp"
#include "tandem/base/span.hpp"
#include "tandem/core/indexed_slices.hpp"
#include "tandem/module/module.hpp"
#include "tandem/optim/learning_rate.hpp"
#include "tandem/optim/options.hpp"
#include "tandem/optim/rules.hpp"
#include "tandem/optim/slots.hpp"
#include "tandem/util/lean_vector.hpp"

namespace TANDEM_NS {

namespace detail {

// A learning rate passed by position: a number, a Variable or a schedule; {} does not match.
template <class R>
concept PositionalRate = Rate<R> || std::same_as<R, LearningRate> || std::derived_from<R, Variable> || RateFunction<R>;

// A function that computes a loss. A Tensor has a call operator, too, but a computed loss has no tape.
template <class F>
concept LossFunction = std::invocable<F> && !std::convertible_to<F, Tensor>;

/// One update that is made of several ops: the gradient, a weight and its slots, the numbers that update ops take.
struct UpdateCall {
  const Gradient& gradient;
  Span<const Variable> state;
  const Tensor &lr, &step;
  const Attrs& attrs;
};
/// The update ops of an optimizer, or a function instead of them, and its slots.
struct UpdateRule {
  const OpDef *dense, *sparse;
  LeanVector<SlotKind> slots;
  void (*composite)(const UpdateCall&) = nullptr;
  Attrs (*undecayed)(const Attrs&) = nullptr;  // if the ops decay weights: the attributes with which they do not
  // In place of `slots`, if they depend on the weight; what else the function reads.
  Span<const SlotKind> (*slots_for)(const Variable& weight, const Opaque* settings) = nullptr;
  Ref<Opaque> settings = {};
};

}  // namespace detail

#define TANDEM_UPDATE_OPS(name, Rule) extern TANDEM_API const OpDef name##_op, name##s_op, name##_sparse_op;
TANDEM_FOR_EACH_UPDATE(TANDEM_UPDATE_OPS)
#undef TANDEM_UPDATE_OPS
#define TANDEM_UPDATE_OPS(name, Rule) &name##_op, &name##s_op, &name##_sparse_op,
inline constexpr const OpDef* update_ops[] = {TANDEM_FOR_EACH_UPDATE(TANDEM_UPDATE_OPS)};
#undef TANDEM_UPDATE_OPS

/// What exclude_from_weight_decay excludes.
struct WeightDecayExclusions {
  std::vector<Variable> var_list = {};
  /// Parts of their names, which are without those of layers: "bias", "gamma". Module::variables_by_name finds those
  /// of one layer.
  std::vector<std::string> var_names = {};
};

namespace detail {
/// The Variables that an optimizer's weight decay leaves alone.
struct Undecayed final : Opaque {
  const char* kind() const override { return "undecayed"; }
  IdMap variables;  // by id: .var_list
  std::vector<std::string> names;
  bool (*has)(const Undecayed&, const Variable&) = nullptr;  // set by exclude_from_weight_decay
};
}  // namespace detail

/// The base class of optimizers; construct one of optimizers::*. Copies are handles to the same state.
///
/// Weights of half precision are updated in float32 and rounded once in each update; their slots are float32. A change
/// below half a unit in the weight's last place (2^-9 of a bfloat16) is lost: to train with small learning rates, keep
/// float32 weights and cast them in the call.
///
/// Optimizers that keep squares of gradients (Adam, AdamW, Nadam, Lamb, RMSprop, Adagrad, Adadelta, Ftrl) compute them
/// in the dtype of their slots. The square of a float32 gradient beyond 1.8e19 is infinite: after one, its element
/// moves no more (with Ftrl and a centered RMSprop it becomes NaN). Bound such gradients by .clipvalue, .clipnorm or
/// .global_clipnorm.
class TANDEM_API Optimizer : public Module {
 public:
  struct GradientAndVariable {
    Gradient gradient;
    Variable variable;
  };

  /// Applies one update step. Unset gradients are skipped: their Variables and slots do not change. Gradients are
  /// clipped first, then weights decay, then they are updated, then projected to their constraints (as in Keras 3). A
  /// row-sparse gradient does all of this to the rows that it names alone, but for a constraint, which applies to the
  /// whole Variable; equal rows add up before the clipping. In the scope of a strategy (distribute/strategy.hpp) the
  /// gradients of all replicas are added first.
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
  template <detail::LossFunction F>
  Tensor minimize(F&& loss, const std::vector<Variable>& variables) const {
    GradientTape tape;
    const Tensor y = std::forward<F>(loss)();
    apply_gradients(tape.gradient(y, variables), variables);
    return y;
  }
  Tensor minimize(const Tensor& loss, const std::vector<Variable>&) const = delete;  // takes a function: [&] { ... }
  /// Runs loss() under a tape and returns its gradients, for apply_gradients.
  template <detail::LossFunction F>
  std::vector<GradientAndVariable> compute_gradients(F&& loss, const std::vector<Variable>& variables) const {
    GradientTape tape;
    const Tensor y = std::forward<F>(loss)();
    std::vector<GradientAndVariable> pairs;
    for (Gradient& g : tape.gradient(y, variables)) pairs.push_back({std::move(g), variables[pairs.size()]});
    return pairs;
  }
  std::vector<GradientAndVariable> compute_gradients(const Tensor& loss, const std::vector<Variable>&) const = delete;
  /// Excludes Variables from weight decay, usually biases and the weights of normalizations: those of .var_list, and
  /// those whose name contains one of .var_names. Replaces the exclusions of an earlier call; copies of this handle
  /// have the same ones.
  ///   throws  errors::FailedPreconditionError, as in Keras, after the first update or build();
  ///           errors::InvalidArgumentError for an empty name, or one with signs of a regular expression (those of
  ///           Keras are expressions)
  void exclude_from_weight_decay(const WeightDecayExclusions& excluded) const;
  /// Creates the slots now instead of at the first apply_gradients, as required before a checkpoint is read.
  void build(const std::vector<Variable>& variables) const;

  /// The learning rate, a float32 scalar or the Variable that was passed; assign to it to change the rate. With a
  /// schedule, the rate of the latest step, which the next step replaces.
  const Variable& learning_rate() const { return learning_rate_; }
  /// Whether the learning rate is a function of the step.
  bool has_schedule() const { return rate_.is_schedule(); }
  /// The class and its options as they were given, whatever the learning rate is now: "adam learning_rate=0.01
  /// beta_1=0.9 beta_2=0.999 epsilon=1e-07". Of a schedule or a Variable as the rate only that it is one.
  std::string settings() const;
  /// The number of completed steps, an int64 scalar. A step that raises is not counted.
  const Variable& iterations() const { return iterations_; }

 protected:
  Optimizer(detail::UpdateRule rule, const Attrs& attrs, const LearningRate& learning_rate,
            const detail::CommonOptions& options = {});

 private:
  using State = Span<const Variable>;  // a weight and its slots
  State slots_of(const Variable& v) const;
  bool decays(const Variable& v) const { return !excluded_->has || !excluded_->has(*excluded_, v); }
  std::vector<Gradient> decayed_alone(const std::vector<Gradient>&, const std::vector<Variable>&) const;
  std::size_t decayed_alike(Span<const Variable> v) const;
  bool clips() const;
  std::vector<Gradient> clipped(const std::vector<Gradient>& gradients, Span<const Variable> variables) const;
  const Attrs& attrs_of(const Variable& v) const { return rule_.undecayed && !decays(v) ? undecayed_ : attrs_; }
  void apply_one(const Gradient& g, State state, const Tensor& lr, const Tensor& step) const;
  void apply_together(Span<const Gradient> gradients, Span<const State> states, const Tensor& lr,
                      const Tensor& step) const;
  detail::UpdateRule rule_;
  Attrs attrs_, undecayed_;
  LearningRate rate_;
  detail::CommonOptions options_;
  Variable learning_rate_, iterations_;
  Ref<detail::Slots> slots_;
  Ref<detail::Undecayed> excluded_;
};

namespace optimizers {

namespace detail {
TANDEM_API tandem::detail::UpdateRule amsgrad_rule();
/// `.amsgrad = true`, with the rule that it chooses: a program that does not set the option does not compile it.
class Amsgrad {
 public:
  Amsgrad() = default;
  template <std::same_as<bool> B>
  Amsgrad(B on) : rule_(on ? &amsgrad_rule : nullptr) {}
  explicit operator bool() const { return rule_; }
  tandem::detail::UpdateRule rule() const { return rule_(); }

 private:
  tandem::detail::UpdateRule (*rule_)() = nullptr;
};
}  // namespace detail

struct SGDOptions {
  LearningRate learning_rate = 0.01;
  double momentum = 0;
  bool nesterov = false;
  TANDEM_OPTIMIZER_OPTIONS;
};
/// Stochastic gradient descent: w -= lr g; with momentum v = m v - lr g, w += v.
///   throws  errors::InvalidArgumentError, as all optimizers do, for a negative learning rate or decay, a momentum
///           outside of [0, 1), a bound of clipping that is not positive, or more than one way of clipping
class TANDEM_API SGD : public Optimizer {
 public:
  explicit SGD(SGDOptions options = {});
  template <tandem::detail::PositionalRate R>
  explicit SGD(R learning_rate, double momentum = 0, bool nesterov = false)
      : SGD(SGDOptions{.learning_rate = learning_rate, .momentum = momentum, .nesterov = nesterov}) {}
};

struct RMSpropOptions {
  LearningRate learning_rate = 0.001;
  double rho = 0.9;
  double momentum = 0;
  double epsilon = 1e-7;
  bool centered = false;
  TANDEM_OPTIMIZER_OPTIONS;
};
/// RMSprop: v = rho v + (1 - rho) g^2; w -= lr g / sqrt(v + eps). Range of g: see Optimizer.
class TANDEM_API RMSprop : public Optimizer {
 public:
  explicit RMSprop(RMSpropOptions options = {});
  template <tandem::detail::PositionalRate R>
  explicit RMSprop(R learning_rate, double rho = 0.9, double momentum = 0)
      : RMSprop(RMSpropOptions{.learning_rate = learning_rate, .rho = rho, .momentum = momentum}) {}
};

struct AdamOptions {
  LearningRate learning_rate = 0.001;
  double beta_1 = 0.9;
  double beta_2 = 0.999;
  double epsilon = 1e-7;
  detail::Amsgrad amsgrad = {};  ///< true: AMSGrad, whose steps are divided by the largest v so far
  TANDEM_OPTIMIZER_OPTIONS;
};
/// Adam (Kingma & Ba 2015): m = b1 m + (1 - b1) g; v = b2 v + (1 - b2) g^2;
/// w -= lr sqrt(1 - b2^t) / (1 - b1^t) m / (sqrt(v) + eps). Range of g: see Optimizer.
class TANDEM_API Adam : public Optimizer {
 public:
  explicit Adam(AdamOptions options = {});
  template <tandem::detail::PositionalRate R>
  explicit Adam(R learning_rate, double beta_1 = 0.9, double beta_2 = 0.999)
      : Adam(AdamOptions{.learning_rate = learning_rate, .beta_1 = beta_1, .beta_2 = beta_2}) {}
};

}  // namespace optimizers
}  // namespace TANDEM_NS
